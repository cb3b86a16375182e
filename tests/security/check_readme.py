"""Each test that README.md and docs/security.md name is there: a promise whose test was renamed or removed
is none."""

import fnmatch
import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
CASE = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
FUZZ = re.compile(r"^\s*hai_fuzz_target\((\w+)|NAME fuzz\.(\w+)", re.M)
QUOTED = re.compile(r"`([^`]+)`")
# What can only be a test, or a form of a name that no test has: "Suite.test_case", ".Case".
LIKE_A_TEST = re.compile(r"(?:e2e|fuzz)\.[\w.*]+|[A-Z]\w*\.[\w*]+|\.[A-Z]\w*")


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


def missing_tests(names, known):
    """Suite.* and Suite.Case* are any that there are."""
    for name in names:
        is_there = is_e2e(name) if name.startswith("e2e.") else fnmatch.filter(known, name)
        if not is_there:
            yield f"there is no test {name}"


def missing_in_rows(text, known):
    """What the rows of README.md's table name and what is not there, as texts."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("| ") or line.startswith("| attack"):
            continue
        names = QUOTED.findall(line.rstrip("| ").rsplit("|", 1)[-1])
        if not names:
            yield f"README.md, line {number}: an attack that no test plays"
        for missing in missing_tests(names, known):
            yield f"README.md, line {number}: {missing}"


def missing_in_text(text, known):
    """The same of whatever looks like a test anywhere in docs/security.md."""
    for number, line in enumerate(text.splitlines(), 1):
        names = filter(LIKE_A_TEST.fullmatch, QUOTED.findall(line))
        for missing in missing_tests(names, known):
            yield f"docs/security.md, line {number}: {missing}"


def main():
    known = gtests() | fuzzers()
    readme = (TESTS / "security/README.md").read_text(encoding="utf-8")
    promises = (TESTS.parent / "docs/security.md").read_text(encoding="utf-8")
    assert readme.count("\n| ") > 10, "the table is gone"
    assert promises.count("`e2e.") > 10, "the tests in docs/security.md are gone"
    assert list(missing_in_rows("| a | b | `No.SuchTest` |", known)), "the check finds nothing"
    for name in ("No.Such", "No.*", "Tls.NoSuch*", ".NoSuch", "e2e.no_test", "Tls.test_x", "fuzz.no"):
        assert list(missing_in_text(f"by `{name}`", known)), f"the check does not find {name}"
    missing = [*missing_in_rows(readme, known), *missing_in_text(promises, known)]
    print(*missing, sep="\n", end="\n" if missing else "")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
