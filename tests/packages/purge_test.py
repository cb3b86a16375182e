#!/usr/bin/python3
"""A purge of hai-server frees the uid of its user only if nothing of his is left where the configuration says."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "deploy" / "debian" / "hai-server.postrm"
FAKES = ("getent", "userdel", "groupdel", "dpkg-query")


class PurgeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.put("var/lib/hai/server/audit.position")
        for name in FAKES:
            self.put(f"programs/{name}", f'#!/bin/sh\necho {name} >> "{self.root}/told"\n').chmod(0o755)
        # Below the folder, and with whoever runs this for the user hai.
        text = SCRIPT.read_text()
        for place in ("/var/", "/etc/"):
            text = text.replace(f" {place}", f" {self.root}{place}").replace(f"={place}", f"={self.root}{place}")
        text = text.replace("-user hai -o -group hai", f"-user {os.getuid()}")
        self.script = self.put("postrm", text)

    def put(self, path, text=""):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def run_script(self, action):
        environment = {**os.environ, "PATH": f"{self.root}/programs:{os.environ['PATH']}"}
        done = subprocess.run(["sh", self.script, action], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done)
        return done.stderr

    def purge(self, backups, config):
        """As dpkg does it; returns what is said, and whether the user is removed."""
        settings = self.put("etc/default/hai-backup", f"HAI_BACKUP_DIR={backups}\nHAI_BACKUP_KEEP=14\n")
        self.put("etc/hai/server.yaml", config)
        self.run_script("remove")
        settings.unlink()
        (self.root / "told").unlink(missing_ok=True)
        said = self.run_script("purge")
        self.assertFalse((self.root / "var/lib/hai/server").exists())
        return said, "userdel" in (self.root / "told").read_text().split()

    def test_the_user_goes_with_all_that_was_his(self):
        empty = self.root / "nothing"
        self.assertEqual(self.purge("/var/backups/hai", f"cluster: a\narchive:\n  dir: {empty}\n"), ("", True))
        self.assertFalse((self.root / "var/lib/hai/backup.folder").exists())

    def test_the_user_stays_while_dumps_are_elsewhere(self):
        dump = self.put("share/dumps/hai-1.dump")
        said, is_removed = self.purge(dump.parent, "cluster: a\n")
        self.assertFalse(is_removed)
        self.assertIn(f"the user hai stays, for {dump.parent} is his", said)
        self.assertTrue(dump.exists())

    def test_the_user_stays_while_the_archive_is_elsewhere(self):
        archived = self.put("share/archive/1.jsonl.gz")
        for config in (f"archive:\n  dir: {archived.parent}  # here\n", f'archive: {{dir: "{archived.parent}"}}\n'):
            said, is_removed = self.purge("/var/backups/hai", config)
            self.assertFalse(is_removed)
            self.assertIn(f"the user hai stays, for {archived.parent} is his", said)
            self.put("var/lib/hai/server/audit.position")


if __name__ == "__main__":
    unittest.main()
