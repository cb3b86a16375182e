"""The batch scripts of tests/data/slurm on a real cluster: each does what its `# expect-` lines
say. All run at once; a part of slurm_test.py, whose cluster they use."""

import os
import re
import shutil
import subprocess

from cluster import REPOSITORY, eventually, programs

SCRIPTS = REPOSITORY / "tests" / "data" / "slurm"
# What Environment Modules and Lmod give every shell: a function that is exported.
MODULES = """() {  case $1 in
 load) shift; export LOADED="${LOADED:+$LOADED }$*";;
 purge) unset LOADED;;
 list) echo "loaded $LOADED";;
 esac
}"""


class Expectation:
    """The `# expect-` lines of a script."""

    def __init__(self, path):
        self.path, self.name = path, path.name
        self.found = re.findall(r"^# expect-(\w+): (.*)$", path.read_text(), re.M)
        assert self.found, f"{path} expects nothing"

    def all(self, kind):
        return [value for name, value in self.found if name == kind]

    def one(self, kind):
        return next(iter(self.all(kind)), None)


class SlurmScripts:
    def test_scripts_as_centres_teach_them(self):
        folder = self.cluster.work / "scripts"
        shutil.copytree(SCRIPTS, folder)
        (folder / "logs").mkdir()
        variables = {
            "PATH": f"{folder / 'bin'}:{programs() / 'slurm'}:{os.environ['PATH']}",
            "BASH_FUNC_module%%": MODULES,
        }
        scripts = [
            Expectation(path)
            for path in sorted(folder.glob("*.*"))
            if path.suffix in (".sh", ".sbatch")
        ]
        self.assertGreaterEqual(len(scripts), 15)
        submitted = []
        for script in scripts:
            command = ["bash" if script.path.suffix == ".sh" else "sbatch", script.name]
            done = subprocess.run(
                command,
                cwd=folder,
                env=self.cluster.environment(**variables),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
            )
            with self.subTest(script=script.name):
                job = self.judge_submission(script, done)
                if job:
                    submitted.append((script, job))
        for script, job in submitted:
            with self.subTest(script=script.name):
                self.judge_job(folder, script, job)

    def judge_submission(self, script, done):
        """The id of its last job, None where it is to be refused."""
        if script.one("refused"):
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertEqual(done.stdout, "")
            self.assertIn(script.one("refused"), done.stderr)
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        if script.one("warning"):
            self.assertIn(script.one("warning"), done.stderr)
        else:
            self.assertEqual(done.stderr, "")
        return int(re.findall(r"Submitted batch job (\d+)", done.stdout)[-1])

    def judge_job(self, folder, script, job):
        ended = self.cluster.wait_end(job, script.one("state"), seconds=120)
        if script.one("nodes"):
            self.assertEqual(ended["node_count"], int(script.one("nodes")))
        if ended["array"]:
            tasks = self.cluster.json("list", "--array", job)
            text = "".join(self.cluster.log(task["id"]) for task in tasks)
        else:
            self.assertEqual(ended["attempt"] - 1, int(script.one("restarts") or 0))
            text = self.cluster.log(job)
        if ended["attempt"] > 1:
            text = self.cluster.log(job, "--attempt", "1") + text
        for pattern in script.all("output"):
            self.assertRegex(text, re.compile(pattern, re.M))
        for line in script.all("count"):
            count, pattern = line.split(" ", 1)
            self.assertEqual(len(re.findall(pattern, text, re.M)), int(count), (pattern, text))
        for line in script.all("file"):
            name, pattern = line.split(" ", 1)
            path = folder / name.replace("%j", str(job))
            eventually(f"{path} is there", path.exists, 5)
            self.assertRegex(path.read_text(), re.compile(pattern, re.M))
