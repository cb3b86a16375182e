"""Each test that README.md names is there: a row whose test was renamed or removed promises nothing."""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
CASE = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
FUZZ = re.compile(r"^\s*hai_fuzz_target\((\w+)|NAME fuzz\.(\w+)", re.M)


def gtests():
    """Suite.Case of every GoogleTest there is."""
    return {
        ".".join(case)
        for path in TESTS.rglob("*_test.cpp")
        for case in CASE.findall(path.read_text(encoding="utf-8"))
    }


def fuzzers():
    text = (TESTS / "fuzz/CMakeLists.txt").read_text(encoding="utf-8")
    return {f"fuzz.corpus_{target}" if target else f"fuzz.{name}" for target, name in FUZZ.findall(text)}


def is_e2e(name):
    """e2e.file_test, or a case of it; and ctest runs the file."""
    _, file, *case = name.split(".")
    path = TESTS / f"e2e/{file}.py"
    listed = (TESTS / "e2e/CMakeLists.txt").read_text(encoding="utf-8")
    if not path.is_file() or not re.search(rf"hai_e2e_test\({file}\b", listed):
        return False
    return not case or f"def {case[0]}(self" in path.read_text(encoding="utf-8")


def missing_of(text):
    """What the rows of a table name and what is not there, as texts."""
    known = gtests() | fuzzers()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("| ") or line.startswith("| attack"):
            continue
        names = re.findall(r"`([^`]+)`", line.rstrip("| ").rsplit("|", 1)[-1])
        if not names:
            yield f"line {number}: an attack that no test plays"
        for name in names:
            if not (is_e2e(name) if name.startswith("e2e.") else name in known):
                yield f"line {number}: there is no test {name}"


def main():
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    assert text.count("\n| ") > 10, "the table is gone"
    assert list(missing_of("| a | b | `No.SuchTest` |")), "the check finds nothing"
    missing = list(missing_of(text))
    print(*missing, sep="\n", end="\n" if missing else "")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
