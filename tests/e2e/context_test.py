"""`hai context`: several clusters, which one a command talks to, and a file that only its owner reads.
No server is needed."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

from cluster import programs


class ContextTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hai-context-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.config = self.folder / "new" / "config.json"
        for name, port in (("prod", 7001), ("test", 7002)):
            self.ok("init", f"secret-{name}", "--url", f"127.0.0.1:{port}", "--name", name, "--offline")

    def hai(self, *words, **environment):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HAI_")}
        kept.update(HAI_CONFIG=str(self.config), **environment)
        return subprocess.run(
            [str(programs() / "hai"), *words], capture_output=True, text=True, timeout=30, env=kept
        )

    def ok(self, *words, **environment):
        done = self.hai(*words, **environment)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def listed(self):
        return {each["name"]: each for each in json.loads(self.ok("context", "-o", "json"))}

    def mode(self):
        return stat.S_IMODE(self.config.stat().st_mode)

    def test_the_list_marks_the_current_one(self):
        lines = self.ok("context").splitlines()
        self.assertEqual(lines[0].split()[:3], ["CURRENT", "NAME", "SERVERS"])
        self.assertEqual(lines[1].split(), ["prod", "127.0.0.1:7001"])
        self.assertEqual(lines[2].split(), ["*", "test", "127.0.0.1:7002"])
        self.assertEqual(self.ok("context", "list"), self.ok("context"))
        for words in (("context",), ("context", "show"), ("context", "-o", "json")):
            self.assertNotIn("secret", self.ok(*words))

    def test_a_token_comes_from_standard_input(self):
        address = ("--url", "127.0.0.1:7003", "--name", "piped", "--offline")
        for text, code in (("secret-piped\n", 0), ("secret-piped", 0), ("", 2), ("\n", 2), ("a b\n", 2),
                           ("one\ntwo\n", 2), ("x" * 256, 2)):  # fmt: skip
            with self.subTest(text=text[:20]):
                before = self.config.read_bytes()
                done = subprocess.run(
                    [str(programs() / "hai"), "init", "-", *address], input=text, capture_output=True,
                    text=True, timeout=30, env={**os.environ, "HAI_CONFIG": str(self.config)},
                )  # fmt: skip
                self.assertEqual(done.returncode, code, done)
                if code == 0:
                    contexts = json.loads(self.config.read_text())["contexts"]
                    self.assertEqual(contexts[-1]["token"], "secret-piped")
                else:
                    self.assertIn("standard input has no token: it must be one line", done.stderr)
                    self.assertEqual(self.config.read_bytes(), before)

    def test_use_chooses_for_the_commands_that_follow(self):
        self.ok("context", "use", "prod")
        self.assertTrue(self.listed()["prod"]["current"])
        self.assertIn("127.0.0.1:7001", self.hai("list").stderr)
        self.assertEqual(self.mode(), 0o600)
        self.assertEqual(stat.S_IMODE(self.config.parent.stat().st_mode), 0o700)

    def test_an_override_is_shown(self):
        done = self.hai("context", HAI_CONTEXT="prod")
        self.assertIn("$HAI_CONTEXT chooses prod", done.stderr)
        self.assertIn("by $HAI_CONTEXT", self.ok("context", "show", HAI_CONTEXT="prod"))
        self.assertIn("by --context", self.ok("--context", "prod", "context", "show"))
        self.assertIn("by hai context use", self.ok("context", "show"))
        shown = json.loads(self.ok("context", "show", "-o", "json", HAI_CONTEXT="prod"))
        self.assertEqual((shown["name"], shown["current"], shown["in_force"]), ("prod", False, True))
        done = self.hai("context", "use", "test", HAI_CONTEXT="prod")
        self.assertIn("$HAI_CONTEXT still chooses prod", done.stderr)

    def test_rename_and_remove(self):
        self.ok("context", "rename", "test", "staging")
        self.assertTrue(self.listed()["staging"]["current"])
        done = self.hai("context", "rename", "staging", "prod")
        self.assertEqual((done.returncode, done.stdout), (4, ""), done)
        done = self.hai("context", "remove", "staging")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("context use", done.stderr)
        self.assertEqual(list(self.listed()), ["prod"])
        self.assertNotIn("secret-test", self.config.read_text())
        self.assertEqual(self.mode(), 0o600)
        self.assertIn("prod", self.hai("list").stderr)

    def test_errors_change_nothing(self):
        before = self.config.read_bytes()
        for words, code, text in (
            (["use", "tets"], 3, "did you mean test?"),
            (["show", "tets"], 3, "did you mean test?"),
            (["remove", "nothing-like-it"], 3, "known are prod, test"),
            (["rename", "tets", "x"], 3, "did you mean test?"),
            (["rename", "test", "a b"], 2, "'a b'"),
            (["rename", "test", ""], 2, "''"),
        ):
            with self.subTest(words):
                done = self.hai("context", *words)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done)
                self.assertRegex(done.stderr, r"\Ahai: [^\n]+\n\Z")
                self.assertIn(text, done.stderr)
        self.assertEqual(self.config.read_bytes(), before)

    def test_a_file_that_is_broken_is_named_and_kept(self):
        self.config.write_text("{")
        for words in (["context"], ["context", "use", "prod"], ["list"]):
            done = self.hai(*words)
            self.assertEqual((done.returncode, done.stdout), (4, ""), done)
            self.assertIn(str(self.config), done.stderr)
        self.assertEqual(self.config.read_text(), "{")

    def test_without_any_it_says_how_to_come_by_one(self):
        self.config.unlink()
        done = self.hai("context")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("hai init", done.stderr)
        self.assertEqual(json.loads(self.ok("context", "-o", "json")), [])


if __name__ == "__main__":
    unittest.main()
