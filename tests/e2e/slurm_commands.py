"""Slurm's commands in the tests of a cluster."""

import re
import subprocess

from cluster import ClusterTest, programs


class SlurmClusterTest(ClusterTest):
    def call(self, command, *words, stdin=None, env=None, seconds=90):
        return subprocess.run(
            [str(programs() / "slurm" / command), *map(str, words)],
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            cwd=self.cluster.work,
            env=self.cluster.environment(**(env or {})),
        )

    def good(self, command, *words, **options):
        done = self.call(command, *words, **options)
        self.assertEqual(done.returncode, 0, f"{command} {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def submit(self, *words, **options):
        out = self.good("sbatch", *words, **options)
        found = re.fullmatch(r"Submitted batch job (\d+)\n", out)
        self.assertTrue(found, out)
        return int(found[1])
