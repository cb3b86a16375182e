"""The wheel: what pip gets, and that installing it needs no network and no build tools."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import paths

import hai


class Package(unittest.TestCase):
    def test_the_version_is_the_same_everywhere(self):
        with open(os.path.join(paths.SDK, "pyproject.toml")) as file:
            declared = re.search(r'^version = "(.*)"$', file.read(), re.M).group(1)
        with open(os.path.join(paths.SDK, "build_backend.py")) as file:
            packed = re.search(r'^NAME, VERSION = "hai-sdk", "(.*)"$', file.read(), re.M).group(1)
        self.assertEqual((declared, packed), (hai.__version__, hai.__version__))

    def test_the_wheel_holds_all_modules_and_they_work_from_it(self):
        with tempfile.TemporaryDirectory() as folder:
            code = "import build_backend, sys; print(build_backend.build_wheel(sys.argv[1]))"
            name = subprocess.run(
                [sys.executable, "-B", "-c", code, folder], cwd=paths.SDK, check=True, text=True,
                stdout=subprocess.PIPE).stdout.strip()
            wheel = os.path.join(folder, name)
            with zipfile.ZipFile(wheel) as archive:
                modules = {n for n in archive.namelist() if n.endswith(".py")}
            self.assertEqual(modules, {
                "hai/__init__.py", "hai/_channel.py", "hai/_context.py", "hai/_experiment.py",
                "hai/_job.py", "hai/_rest.py", "hai/client.py", "hfai/__init__.py",
                "hfai/client/__init__.py"})
            where = subprocess.run(
                [sys.executable, "-c", "import hai, hfai.client; print(hai.__file__)"],
                env={**os.environ, "PYTHONPATH": wheel}, cwd=folder, check=True, text=True,
                stdout=subprocess.PIPE).stdout
            self.assertTrue(where.startswith(wheel), where)


if __name__ == "__main__":
    unittest.main()
