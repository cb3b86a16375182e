#!/usr/bin/env python3
"""Checks the rules of the house that a compiler cannot: who includes whom, and what pure code must not touch.

usage: check.py [ROOT]. Prints each violation as file:line: text and exits 1 if there is any.
"""

import os
import re
import sys
from pathlib import Path

import rules

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Comments and literals, in the order in which they must be recognised.
NOT_CODE = re.compile(
    r'R"(?P<mark>[^ ()\\]{0,16})\((?:.|\n)*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|//[^\n]*"
    r"|/\*(?:.|\n)*?\*/"
)


def is_under(path, folder):
    return path == folder or path.startswith(folder + "/")


def folder_of(path):
    """The longest folder of the include table that holds the path, or None."""
    matches = [folder for folder in rules.MAY_INCLUDE if is_under(path, folder)]
    return max(matches, key=len, default=None)


def strip_comments_and_literals(text):
    """The same text with blanks instead, so that lines and columns stay."""
    return NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def find_files(root):
    for directory, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in rules.SKIPPED_FOLDERS)
        for name in sorted(files):
            if name.endswith(rules.TEXT_SUFFIXES) or name == "run":
                yield Path(directory, name).relative_to(root).as_posix()


def check_layer(path, included):
    folder = folder_of(path)
    if folder in rules.BASE_OF_ROOMS and included.startswith(folder + "/") and "/" in included[len(folder) + 1:]:
        yield f"{folder} is the base of its rooms and must not include {included}"
        return
    if folder is None or any(is_under(included, allowed) for allowed in [folder, *rules.MAY_INCLUDE[folder]]):
        return
    yield f"{folder} must not include {included}; it may include {', '.join(rules.MAY_INCLUDE[folder]) or 'only itself'}"


def check_heavy(path, included):
    for pattern, allowed, in_headers in rules.HEAVY_HEADERS:
        if not re.match(pattern, included):
            continue
        if not any(is_under(path, folder) for folder in allowed):
            yield f"{included} may be included only in {', '.join(allowed)}"
        elif path.endswith(".h") and not in_headers:
            yield f"{included} is heavy: include it in .cpp files only"


def check_includes(root, path, lines):
    is_layered = not any(is_under(path, folder) for folder in rules.UNLAYERED)
    is_pure = any(is_under(path, folder) for folder in rules.PURE_FOLDERS)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match is None:
            continue
        bracket, included = match.groups()
        is_generated = included.startswith("hai/v1/")
        if bracket == '"' and not is_generated and not (root / included).is_file():
            yield number, f'no file "{included}" below the repository root; write includes from there'
            continue
        if not is_layered:
            continue
        if bracket == '"' and not is_generated:
            yield from ((number, text) for text in check_layer(path, included))
        yield from ((number, text) for text in check_heavy(path, included))
        if is_pure and rules.BANNED_INCLUDES_IN_PURE.get(included):
            yield number, f"{included} {rules.BANNED_INCLUDES_IN_PURE[included]}"
        if included == "common/log.h" and any(is_under(path, folder) for folder in rules.NEVER_LOG):
            yield number, "model and plan never log: return a reason"


def check_code(path, text):
    lines = strip_comments_and_literals(text).split("\n")
    if any(is_under(path, folder) for folder in rules.PURE_FOLDERS):
        for number, line in enumerate(lines, 1):
            for pattern, why in rules.BANNED_IN_PURE:
                if match := re.search(pattern, line):
                    yield number, f"{match.group().strip()} {why}"
    if not path.endswith(".h"):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r"\busing\s+namespace\b", line):
            yield number, "using namespace in a header reaches everyone who includes it"
    if not any(line.strip() == "#pragma once" for line in lines):
        yield 1, "a header needs #pragma once"


def without_literals(text):
    """Comments stay; what stands in quotes is cut out, raw strings with all their lines."""
    return NOT_CODE.sub(lambda m: m.group() if m.group()[0] == "/" else "\n" * m.group().count("\n"), text)


def check_width(text):
    for number, line in enumerate(without_literals(text).split("\n"), 1):
        if len(line) > rules.COLUMNS_MAX:
            yield number, f"{len(line)} columns, at most {rules.COLUMNS_MAX}"


# Formatted as it is, a function ends with a brace at the indentation of its first line.
FUNCTION = re.compile(r"^( {0,2})(?!namespace|struct|class|enum|union|extern|#|\}|if|for|while|switch|else|do\b)\S.*$")


def check_functions(path, text):
    if is_under(path, "tests") or path in rules.TABLES:
        return
    lines = strip_comments_and_literals(text).split("\n")
    for begin, line in enumerate(lines):
        if not (match := FUNCTION.match(line.rstrip())) or "(" not in line or "=" in line.split("(")[0]:
            continue
        brace = begin  # A long signature goes on in deeper lines; deeper ones are statements, too.
        while not match.group(1) and not lines[brace].rstrip().endswith(("{", ";", "}")) and brace + 1 < len(lines):
            brace += 1
        if not lines[brace].rstrip().endswith("{"):
            continue
        ends = (at for at in range(brace + 1, len(lines)) if lines[at].startswith(match.group(1) + "}"))
        length = next(ends, brace) - brace - 1
        if length > rules.FUNCTION_LINES_MAX:
            yield begin + 1, f"a function of {length} lines, at most {rules.FUNCTION_LINES_MAX}: split it by ideas"


def check_cited(root, lines):
    for number, line in enumerate(lines, 1):
        for cited in re.findall(r"\bdocs/[\w./-]+\.md\b", line):
            if not (root / cited).is_file():
                yield number, f"there is no {cited}"
        for cited in re.findall(r"\bdesign/(\d{4})\b", line):
            if not list((root / "docs/design").glob(f"{cited}-*")):
                yield number, f"there is no docs/design/{cited}"


def check_text(path, lines):
    if path.endswith(rules.LENGTH_SUFFIXES) and len(lines) > rules.LINES_MAX:
        yield len(lines), f"{len(lines)} lines, at most {rules.LINES_MAX}: split it by ideas"
    for number, line in enumerate(lines, 1):
        if match := re.search(rules.MACHINE_PATHS, line):
            yield number, f"{match.group()}... is a path of one machine"


def check_file(root, path):
    try:
        text = (root / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        yield 1, "is not UTF-8 text"
        return
    except FileNotFoundError:  # Gone since the listing, or a link to nowhere.
        return
    lines = text.splitlines()
    yield from check_text(path, lines)
    if path.endswith(rules.CODE_SUFFIXES):
        yield from check_includes(root, path, lines)
        yield from check_code(path, text)
        yield from check_functions(path, text)
        yield from check_cited(root, lines)
    if path.endswith((*rules.CODE_SUFFIXES, ".proto")):
        yield from check_width(text)


def check_tree(root):
    """All violations below root, as texts."""
    root = Path(root)
    return [
        f"{path}:{number}: {text}"
        for path in find_files(root)
        for number, text in sorted(check_file(root, path))
    ]


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    violations = check_tree(root)
    for violation in violations:
        print(violation)
    if violations:
        print(f"{len(violations)} violations of the house rules (tests/tidy/rules.py)", file=sys.stderr)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
