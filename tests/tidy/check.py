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
