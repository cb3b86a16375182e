#!/usr/bin/python3
"""The version that the sources have (deploy/source_version.sh), and that programs tell of it: with the
commit where there is git, plainly without, and written anew only when it is another one."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ("hai-server", "hai-agent", "hai", "hai-slurm", "hai-validator")
FORM = re.compile(r"\d+\.\d+\.\d+(\+git\d+\.[0-9a-f]{8}(\.changed)?)?")


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True,
                          **options).stdout.strip()  # fmt: skip


class SourceVersionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.sources = self.root / "sources"
        self.sources.mkdir()
        (self.sources / "CMakeLists.txt").write_text("project(hai VERSION 2.7.1 LANGUAGES C)\n")

    def git(self, *words, folder=None):
        return run("git", "-C", folder or self.sources, "-c", "user.name=x", "-c", "user.email=x@x",
                   *words)  # fmt: skip

    def commit(self, folder=None):
        self.git("add", "-A", folder=folder)
        self.git("commit", "-qm", "a change", folder=folder)
        return self.git("rev-parse", "--short=8", "HEAD", folder=folder)

    def version(self):
        return run(ROOT / "deploy/source_version.sh", self.sources)

    def test_counts_commits_and_names_the_newest(self):
        self.git("init", "-q")
        first = self.commit()
        self.assertEqual(self.version(), f"2.7.1+git1.{first}")
        (self.sources / "file").write_text("one")
        self.assertEqual(self.version(), f"2.7.1+git1.{first}", "a file that git does not know")
        second = self.commit()
        self.assertEqual(self.version(), f"2.7.1+git2.{second}")
        subprocess.run(["dpkg", "--compare-versions", f"2.7.1+git2.{second}", "gt", f"2.7.1+git1.{first}"],
                       check=True)  # fmt: skip
        (self.sources / "file").write_text("two")
        self.assertEqual(self.version(), f"2.7.1+git2.{second}.changed")

    def test_without_git_it_is_the_projects(self):
        self.assertEqual(self.version(), "2.7.1")
        # Unpacked in another project's repository: those commits are not its own.
        self.git("init", "-q", folder=self.root)
        self.commit(folder=self.root)
        self.assertEqual(self.version(), "2.7.1")
        # No git on the machine.
        tools = self.root / "tools"
        tools.mkdir()
        for name in ("sh", "sed", "dirname"):
            (tools / name).symlink_to(f"/usr/bin/{name}")
        self.git("init", "-q")
        self.commit()
        said = run("/bin/sh", ROOT / "deploy/source_version.sh", self.sources, env={"PATH": str(tools)})
        self.assertEqual(said, "2.7.1")

    def test_is_written_anew_only_when_it_is_another_one(self):
        (self.sources / "deploy").mkdir()
        (self.sources / "deploy/source_version.sh").symlink_to(ROOT / "deploy/source_version.sh")
        file = self.root / "version.cpp"
        write = (ROOT / "cmake/write_source_version.sh", self.sources, file)
        run(*write)
        self.assertIn('return "2.7.1";', file.read_text())
        os.utime(file, (1, 1))
        run(*write)
        self.assertEqual(file.stat().st_mtime, 1, "else all programs are linked at each build")
        self.git("init", "-q")
        first = self.commit()
        run(*write)
        self.assertIn(f'return "2.7.1+git1.{first}";', file.read_text())
        self.assertEqual([path.name for path in self.root.glob("version*")], ["version.cpp"])


class ProgramsTest(unittest.TestCase):
    def test_all_say_the_same(self):
        folder = pathlib.Path(os.environ["HAI_BIN"])
        said = {name: run(folder / name, "--version").split()[-1]
                for name in PROGRAMS if (folder / name).exists()}  # fmt: skip
        self.assertGreater(len(said), 1, f"no programs in {folder}")
        self.assertEqual(len(set(said.values())), 1, said)
        version = said.popitem()[1]
        self.assertTrue(FORM.fullmatch(version), version)
        if "+git" in run(ROOT / "deploy/source_version.sh"):
            self.assertIn("+git", version, "the sources have commits, and the programs do not say so")


if __name__ == "__main__":
    unittest.main()
