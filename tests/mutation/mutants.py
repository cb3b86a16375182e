"""All mutants of a file, and which of them are known to change nothing."""

import difflib
import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cpp_tokens import Source
from operators import OPERATORS

HERE = Path(__file__).resolve().parent


def squeeze(text):
    return " ".join(text.split())


@dataclass(frozen=True)
class Mutant:
    file: str
    operator: str
    start: int  # of the file's text
    end: int
    replacement: str
    line: int
    before: str  # the lines it touches, blanks squeezed
    after: str
    twin: int  # how many before it in the file look the same

    @property
    def key(self):
        """The same for as long as its lines are, whatever happens to the rest of the file."""
        parts = (self.file, self.operator, self.before, self.after, self.twin)
        return hashlib.sha1("\0".join(map(str, parts)).encode()).hexdigest()[:12]

    def apply(self, text):
        return text[:self.start] + self.replacement + text[self.end:]

    def diff(self, text):
        lines = difflib.unified_diff(text.splitlines(), self.apply(text).splitlines(), n=0, lineterm="")
        return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def mutants_of(file, text):
    source = Source(text)
    seen = Counter()
    untouched = [(source.tokens[i].start, source.tokens[i].end) for i in sorted(source.untouched)]
    for operator, find in OPERATORS.items():
        for start, end, replacement in find(source):
            if any(start < stop and begin < end for begin, stop in untouched):
                continue
            first = text.rfind("\n", 0, start) + 1
            last = text.find("\n", end)
            last = len(text) if last < 0 else last
            before = squeeze(text[first:last])
            after = squeeze(text[first:start] + replacement + text[end:last])
            twin = seen[operator, before, after]
            seen[operator, before, after] += 1
            yield Mutant(file, operator, start, end, replacement, source.line_of(start), before, after, twin)


def read_equivalents(path=HERE / "equivalent.txt"):
    """{(file, before, after): why}. The format is in the file."""
    known = {}
    for block in Path(path).read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        fields = dict(line.split(" ", 1) for line in lines)
        if set(fields) != {"file", "before", "after", "why"}:
            raise ValueError(f"{path}: an entry needs file, before, after and why: {block!r}")
        known[fields["file"], squeeze(fields["before"]), squeeze(fields["after"])] = fields["why"]
    return known
