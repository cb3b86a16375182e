"""Man pages: one for each verb, what --help says, and nothing that a formatter warns about."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from cluster import programs


def run(*command):
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=60, errors="replace"
    )


class ManTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hai-man-")
        cls.addClassCleanup(folder.cleanup)
        cls.hai = programs() / "hai"
        done = run(cls.hai, "__man", folder.name)
        assert done.returncode == 0, done.stderr
        cls.pages = sorted(pathlib.Path(folder.name).iterdir())

    def shown(self, page):
        done = run("groff", "-man", "-Tascii", "-P-c", "-ww", "-b", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
        return re.sub(r".\x08", "", done.stdout)

    def test_every_verb_has_a_page(self):
        text = run(self.hai, "--help").stdout.split("\nOptions:")[0]
        verbs = set()
        for section in text.split("\n\n"):
            if section.strip("\n").partition("\n")[0].endswith(":"):
                verbs.update(re.findall(r"^  (\S+)", section, re.M))
        self.assertGreater(len(verbs), 30)
        names = {page.name for page in self.pages}
        self.assertEqual(names, {"hai.1"} | {f"hai-{verb}.1" for verb in verbs})

    def test_they_have_all_sections(self):
        for page in self.pages:
            with self.subTest(page.name):
                text = page.read_text()
                for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS"):
                    self.assertIn(f"\n.SH {section}\n", text)
                self.assertNotIn("INT:", text)
                self.assertNotRegex(text, r"\bTEXT\b")

    def test_groff_warns_of_nothing(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        for page in self.pages:
            with self.subTest(page.name):
                self.assertIn("EXIT STATUS", self.shown(page))

    def test_mandoc_finds_no_fault(self):
        if shutil.which("mandoc") is None:
            self.skipTest("mandoc is not installed")
        for page in self.pages:
            with self.subTest(page.name):
                # Style and warnings, but for the date: a page that says when it was built would
                # differ with every build.
                done = run("mandoc", "-Tlint", "-Wwarning", page)
                lines = [line for line in done.stdout.splitlines() if "missing date" not in line]
                self.assertEqual(lines, [])

    def test_the_page_says_what_help_says(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed")
        page = next(page for page in self.pages if page.name == "hai-quota.1")
        shown = " ".join(self.shown(page).split())
        for verb in ("list", "set", "remove"):
            usage = re.search(r"^Usage: (.*)$", run(self.hai, "quota", verb, "--help").stdout, re.M)
            self.assertIn(usage[1], shown)
        self.assertIn("-p, --priority PRIORITY", shown)
        self.assertIn("hai quota set ann 16 -g training -p high", shown)

    def test_help_is_a_verb_too(self):
        for words in (["list"], ["quota", "set"], []):
            self.assertEqual(
                run(self.hai, "help", *words).stdout, run(self.hai, *words, "--help").stdout
            )


if __name__ == "__main__":
    unittest.main()
