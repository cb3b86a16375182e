"""The commands of the documentation, as a person would copy them."""

import pathlib
import re

OPERATIONS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "operations"


def blocks(name):
    """The shell blocks of docs/operations/NAME, in order."""
    return re.findall(r"^```sh\n(.*?)^```$", (OPERATIONS / name).read_text(), re.M | re.S)


def block(name, mark):
    """The one block that has `mark` in it."""
    found = [text for text in blocks(name) if mark in text]
    if len(found) != 1:
        raise AssertionError(f"{name} has {len(found)} blocks with '{mark}', not one")
    return found[0]


def lines(text, first, last):
    """Of a block: from the line with `first` to that with `last`."""
    found = text.splitlines()
    begin = next(number for number, line in enumerate(found) if first in line)
    end = next(number for number, line in enumerate(found) if last in line)
    return "\n".join(found[begin : end + 1]) + "\n"


def fill(text, **words):
    """With a reader's own words in place of the examples'."""
    for example, own in words.items():
        text = text.replace(example.replace("_", "-"), own)
    return text


def step(number):
    """The command of this row of the table in docs/operations/setup.md."""
    text = (OPERATIONS / "setup.md").read_text()
    rows = re.findall(r"^\| (\d+) \| .*? \| `(.*?)`.*\|$", text, re.M)
    return dict(rows)[str(number)]


def check_like(documented, printed):
    """Where the documentation has ... anything may stand; behind it there may be more options."""
    shown = documented.split(" --table")[0]
    pattern = re.escape(shown).replace("\u2026", "\\S+").replace("SERVER", "[a-z0-9-]+")
    if not re.match(pattern + "( |$)", printed):
        raise AssertionError(f"setup.md has '{documented}', the program prints '{printed}'")


def upgrade_commands():
    """Of docs/operations/upgrade.md: what each machine runs, and what the first server does after it."""
    documented = block("upgrade.md", "--only-upgrade").splitlines()
    marks = {"packages": "--only-upgrade", "migrate": "hai-server migrate"}
    return {
        what: next(line for line in documented if mark in line).split(" #")[0]
        for what, mark in marks.items()
    }
