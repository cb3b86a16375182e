"""`cmake --install`: of the command line, its man pages and its completion where a system looks for
them; of everything, each program where the others look for it."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from cluster import REPOSITORY, programs

LINKS = REPOSITORY / "cli" / "slurm" / "link_names.txt"


def run(*command, **environment):
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = programs().parent
        if not (build / "CMakeCache.txt").exists():
            raise unittest.SkipTest("the programs are not in a build folder")
        folder = tempfile.TemporaryDirectory(prefix="hai-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = pathlib.Path(folder.name)
        done = run("cmake", "--install", build, "--component", "cli", "--prefix", cls.prefix)
        assert done.returncode == 0, done.stderr

    def test_everything_is_in_its_place(self):
        for path in (
            "bin/hai",
            "share/man/man1/hai.1",
            "share/man/man1/hai-list.1",
            "share/bash-completion/completions/hai",
            "share/zsh/site-functions/_hai",
            "share/fish/vendor_completions.d/hai.fish",
        ):
            self.assertGreater((self.prefix / path).stat().st_size, 0, path)
        done = run(self.prefix / "bin/hai", "--version")
        self.assertTrue(done.stdout.startswith("hai "), done)
        script = (self.prefix / "share/zsh/site-functions/_hai").read_text()
        self.assertEqual(script, run(self.prefix / "bin/hai", "completion", "zsh").stdout)

    def test_man_finds_and_shows_them(self):
        if shutil.which("man") is None:
            self.skipTest("man is not installed")
        done = run(
            "man",
            "--warnings",
            "-M",
            self.prefix / "share/man",
            "hai-list",
            MANPAGER="cat",
            MANWIDTH="80",
            LANG="C.UTF-8",
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("EXIT STATUS", done.stdout)
        self.assertIn("-s, --state", done.stdout)

    def test_bash_loads_the_installed_script(self):
        script = self.prefix / "share/bash-completion/completions/hai"
        done = run("bash", "--norc", "-c", 'source "$1" && complete -p hai', "bash", script)
        self.assertEqual(done.stdout, "complete -F _hai hai\n")

    def test_everything_is_installed_without_a_component(self):
        build = programs().parent
        prefix = self.prefix / "everything"
        done = run("cmake", "--install", build, "--prefix", prefix)
        if "hai-slurm" in done.stderr and not (build / "bin/hai-slurm").exists():
            self.skipTest("not everything is built")
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in (
            "bin/hai",
            "bin/hai-agent",
            "bin/hai-backup",
            "bin/hai-store-setup",
            "bin/hai-server",
            "bin/hai-slurm",
            "bin/hai-validator",
            "libexec/hai/hai-hang-evidence",
            "libexec/hai/hai-image",
            "libexec/hai/hai-shim",
            "libexec/hai/hai-slurm-pmix",
            "libexec/hai/in-image/hai-slurm",
            *(f"libexec/hai/slurm/{name}" for name in LINKS.read_text().split()),
            "share/hai/python/hai/__init__.py",
            "share/hai/python/hai/client.py",
            "share/hai/python/hfai/client/__init__.py",
            "share/hai/store/hai_store_files.py",
        ):
            self.assertTrue((prefix / path).exists(), path)
        squeue = run(prefix / "libexec/hai/slurm/squeue", "--version")
        self.assertEqual(squeue.returncode, 0, squeue)


if __name__ == "__main__":
    unittest.main()
