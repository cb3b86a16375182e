#!/usr/bin/env python3
"""Every planted bug of mutants.txt has its row in mutants-results.md, with the file it is planted in, and no other has."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent


def main():
    planted = {}
    for line in (HERE / "mutants.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, file, _ = line.split("|", 2)
            planted[name.strip()] = file.strip()
    listed = dict(re.findall(r"^\| (\w+) \| `([^`]+)` \|", (HERE / "mutants-results.md").read_text(), re.M))
    wrong = sorted(f"{name}: {listed.get(name, 'no row')}, planted in {planted.get(name, 'nothing')}"
                   for name in planted.keys() | listed.keys() if planted.get(name) != listed.get(name))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
