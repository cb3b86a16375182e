"""docs/hai.md has a table of HAI's commands: what it says of each is so."""

import re
import subprocess
import unittest

from cluster import REPOSITORY, programs


def hai(*words):
    return subprocess.run([programs() / "hai", *words], capture_output=True, text=True, timeout=30)


def rows():
    """The table below "Commands": its two cells, row by row."""
    text = (REPOSITORY / "docs" / "hai.md").read_text().split("## Commands")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (.*?) \| (.*?) \|$", text, re.M)
    return [(there, here) for there, here in cells if there not in ("there", "---")]


class HaiDocsTest(unittest.TestCase):
    def setUp(self):
        listed = hai("help")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.verbs = set(re.findall(r"^  ([a-z]+) {2,}", listed.stdout, re.M))
        self.assertIn("run", self.verbs, listed.stdout)

    def test_each_command_is_there_or_not_as_the_table_says(self):
        found = rows()
        self.assertEqual(len(found), 8, found)
        for there, here in found:
            # "exec with -- and ++": what follows a verb is no verb.
            commands = [word for word in re.findall(r"`([^`]*)`", there) if word.isalpha()]
            self.assertTrue(commands, there)
            for command in commands:
                with self.subTest(command):
                    if here.startswith("the same names"):
                        self.assertIn(command, self.verbs)
                        self.assertEqual(hai(command, "--help").returncode, 0)
                    elif here.startswith("nothing"):
                        self.assertNotIn(command, self.verbs)
                        self.assertEqual(hai(command).returncode, 2)
            for verb in re.findall(r"`hai ([a-z]+)", here):
                self.assertIn(verb, self.verbs, here)


if __name__ == "__main__":
    unittest.main()
