"""Python environments by name: `hai env`, `--venv`, the one that is active, and HAI's py_venv."""

import json
import os
import pathlib
import pwd
import subprocess
import unittest

from cluster import ClusterTest, said

WHERE = "import sys; print('prefix', sys.prefix)"


class EnvTest(ClusterTest):
    shape = {"name": "env", "nodes": 1}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Where nodes look: the home of the job's user, who is whoever runs this.
        cls.home = pathlib.Path(pwd.getpwuid(os.getuid()).pw_dir)
        cls.kept = cls.home / ".hai" / "envs"
        cls.name = f"e2e-{os.getpid()}"
        cls.addClassCleanup(cls.hai, "env", "remove", cls.name)
        made = cls.hai("env", "create", cls.name)
        assert made.code == 0, made
        cls.folder = made.out.strip()
        (cls.cluster.work / "where.py").write_text(WHERE)

    @classmethod
    def hai(cls, *words, **variables):
        return cls.cluster.hai(*words, env={"HOME": str(cls.home), **variables})

    def prefix_of(self, *words, **variables):
        done = self.hai(*words, "-n", "1", "--gpus", "1", "-f", **variables)
        self.assertEqual(done.code, 0, done)
        return said(done.out).removeprefix("prefix ").strip(), done.err

    def test_one_that_was_made_is_listed_and_found_by_its_name(self):
        self.assertEqual(self.folder, str(self.kept / self.name))
        listed = json.loads(self.hai("env", "list", "-o", "json").out)
        mine = next(item for item in listed if item["name"] == self.name)
        self.assertEqual((mine["folder"], mine["active"]), (self.folder, False))
        self.assertRegex(mine["python"], r"\A3\.\d+\.\d+\Z")
        self.assertEqual(self.hai("env", "path", self.name).out.strip(), self.folder)
        again = self.hai("env", "create", self.name)
        self.assertEqual((again.code, again.out), (4, ""), again)
        self.assertIn("is there already: remove it with", again.err)

    def test_a_job_has_the_one_it_asks_for(self):
        prefix, _ = self.prefix_of("python", "where.py", "--", "--venv", self.name)
        self.assertEqual(prefix, self.folder)
        me = pwd.getpwuid(os.getuid()).pw_name
        prefix, _ = self.prefix_of("python", "where.py", "--", "--venv", f"{self.name}[{me}]")
        self.assertEqual(prefix, self.folder)
        prefix, _ = self.prefix_of("exec", "python3", "where.py", "--", "--venv", self.folder)
        self.assertEqual(prefix, self.folder)
        prefix, _ = self.prefix_of("python", "where.py", "--")
        self.assertEqual(prefix, "/usr")

    def test_the_active_one_goes_with_a_python_program(self):
        prefix, told = self.prefix_of("python", "where.py", "--", VIRTUAL_ENV=self.folder)
        self.assertEqual(prefix, self.folder)
        self.assertIn(f"with the Python environment that is active here, {self.folder}", told)
        prefix, told = self.prefix_of("python", "where.py", "--", "--venv", "none", VIRTUAL_ENV=self.folder)
        self.assertEqual(prefix, "/usr")
        self.assertNotIn("active here", told)

    def test_hais_job_file_names_one(self):
        job = self.cluster.file(
            "venv.yaml",
            f"version: 2\nname: venv\nspec: {{workspace: {self.cluster.work}, entrypoint: where.py}}\n"
            f"resource: {{gpus_per_node: 1}}\noptions: {{py_venv: {self.name}}}\n",
        )
        prefix, _ = self.prefix_of("run", job)
        self.assertEqual(prefix, self.folder)

    def test_a_shell_in_the_job_has_it_too(self):
        job = self.cluster.exec("sleep 600", "--venv", self.name)
        self.cluster.wait_running(job)
        inside = self.hai("shell", job, "--", "python3", "-c", WHERE)
        self.assertEqual((inside.code, inside.out.strip()), (0, f"prefix {self.folder}"), inside)
        self.cluster.ok("stop", job)

    def test_one_that_is_not_there_says_so_and_runs_nothing(self):
        done = self.hai("python", "where.py", "--", "-n", "1", "--gpus", "1", "--venv", "absent", "-f")
        self.assertNotEqual(done.code, 0)
        self.assertEqual(done.out, "")
        self.assertIn("Python environment absent: its bin/python3 cannot be used on this node", done.err)

    def test_what_cannot_be_made_leaves_nothing(self):
        made = self.hai("env", "create", "half", "--python", "false")
        self.assertEqual((made.code, made.out), (4, ""), made)
        self.assertIn("`false -m venv` failed with exit code 1", made.err)
        self.assertFalse((self.kept / "half").exists())

    def test_others_are_kept_elsewhere(self):
        kept = self.cluster.work / "kept"
        subprocess.run(["python3", "-m", "venv", "--without-pip", kept / "llm"], check=True)
        prefix, _ = self.prefix_of("python", "where.py", "--", "--venv", "llm", HAIENV_PATH=str(kept))
        self.assertEqual(prefix, str(kept / "llm"))
        gone = self.hai("env", "remove", "llm", HAIENV_PATH=str(kept))
        self.assertEqual(gone.code, 0, gone)
        self.assertFalse((kept / "llm").exists())


if __name__ == "__main__":
    unittest.main()
