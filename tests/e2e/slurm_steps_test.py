"""The steps of a batch job: who follows them, who lists them, and what they change for the job."""

import json
import subprocess
import time
import unittest

from cluster import eventually, programs
from slurm_commands import SlurmClusterTest


class SlurmStepsTest(SlurmClusterTest):
    shape = {"name": "steps", "nodes": 2, "gpus": 4}

    def test_steps_are_recorded_and_shown(self):
        go = self.cluster.work / "go-on"
        go.unlink(missing_ok=True)
        job = self.submit(
            "-J", "stepped", "-N2", "--ntasks-per-node=2",
            stdin="#!/bin/bash\nsrun -n3 sh -c 'exit $SLURM_PROCID'\n"
            f"srun -N1 -n1 -c2 --gpus=1 sh -c 'until [ -e {go} ]; do sleep 0.1; done'\nexit 0\n",
        )
        self.cluster.wait_running(job)
        running = lambda *words: self.good("squeue", "-h", "-o", "%i|%j|%u", *words)  # noqa: E731
        eventually("it runs", lambda: running("-s", "-j", job).startswith(f"{job}.1|sh|"))
        self.assertEqual(running(f"--steps={job}.0"), "")  # it has ended
        self.assertEqual(running(f"--steps={job}.0,{job}.1").count("\n"), 1)
        self.assertIn("STEPID", self.good("squeue", "-s", "-j", job))
        shown = self.good("scontrol", "show", "step", f"{job}.1")
        self.assertIn("State=RUNNING", shown)
        self.assertIn("Nodes=1 CPUs=2 Tasks=1 Name=sh TRES=cpu=2,node=1,gres/gpu=1\n", shown)
        fields = "JobID,JobName,State,ExitCode,NTasks,AllocCPUS"
        account = lambda *words: self.good("sacct", "-n", "-P", "-o", fields, *words)  # noqa: E731
        self.assertIn(f"{job}.1|sh|RUNNING|0:0|1|2\n", account("-j", job))
        go.touch()
        self.cluster.wait_end(job)
        rows = account("-j", job).splitlines()
        self.assertTrue(rows[1].startswith(f"{job}.batch|batch|COMPLETED|0:0|"), rows)
        self.assertEqual(rows[2:], [f"{job}.0|sh|FAILED|2:0|3|", f"{job}.1|sh|COMPLETED|0:0|1|2"])
        self.assertEqual(account("-j", f"{job}.1"), f"{job}.1|sh|COMPLETED|0:0|1|2\n")
        self.assertEqual(len(account("-X", "-j", job).splitlines()), 1)
        self.assertRegex(self.good("sacct", "-nP", "-j", f"{job}.1", "-o", "MaxRSS"), r"^\d+K\n$")
        steps = json.loads(self.good("sacct", "-j", job, "--json"))["jobs"][0]["steps"]
        self.assertEqual([step["step"]["id"]["step_id"] for step in steps], ["batch", "0", "1"])
        self.assertEqual(steps[1]["tasks"]["count"], 3)
        ended = self.call("scancel", f"{job}.1")
        self.assertEqual((ended.returncode, ended.stdout), (4, ""))
        self.assertEqual(
            ended.stderr, f"scancel: error: Kill job error on job step id {job}.1: it does not run\n"
        )

    def test_one_step_is_cancelled_and_the_script_goes_on(self):
        script = (
            "#!/bin/bash\n"
            "srun -N2 -n2 sh -c 'trap \"echo cleans up $SLURM_PROCID; exit 7\" TERM;"
            " trap \"echo poked\" USR1; echo up; while :; do sleep 0.1; done' & first=$!\n"
            "wait $first; echo first was $?\n"
            "srun -N1 -n1 sleep 600 & second=$!\n"
            "until scancel $SLURM_JOB_ID.1; do sleep 0.1; done\n"
            "wait $second; echo second was $?\n"
        )
        job = self.submit("-N2", stdin=script)
        out = lambda: self.cluster.log(job)  # noqa: E731
        eventually("its tasks are up", lambda: out().count("up\n") == 2)
        self.assertEqual(self.good("scancel", "--signal=USR1", f"{job}.0"), "")
        eventually("both have the signal", lambda: out().count("poked\n") == 2)
        unknown = self.call("scancel", f"{job}.9")
        self.assertEqual(unknown.returncode, 3)
        self.assertIn(f"job step id {job}.9: the job has no such step", unknown.stderr)
        self.assertEqual(self.good("scancel", f"{job}.0"), "")
        self.cluster.wait_end(job)
        text = out()
        for line in ("cleans up 0", "cleans up 1", "first was 7", "second was 143"):
            self.assertIn(line + "\n", text)
        self.assertEqual(
            self.good("sacct", "-n", "-P", "-o", "JobID,State,ExitCode", "-j", job).splitlines()[2:],
            [f"{job}.0|CANCELLED|7:0", f"{job}.1|CANCELLED|0:15"],
        )

    def test_a_cancelled_step_that_will_not_end_is_killed(self):
        job = self.submit(
            stdin="#!/bin/bash\nsrun sh -c 'trap \"\" TERM; echo up; while :; do sleep 0.1; done'\n"
            "echo ended $?\n",
        )
        eventually("its task is up", lambda: "up\n" in self.cluster.log(job))
        began = time.monotonic()
        self.assertEqual(self.good("scancel", f"{job}.0"), "")
        self.cluster.wait_end(job)
        self.assertGreater(time.monotonic() - began, 25)  # it had its time to clean up
        self.assertIn("ended 137\n", self.cluster.log(job))

    def test_a_script_with_steps_is_still_told_to_leave(self):
        job = self.submit(
            stdin="#!/bin/bash\n[ $SLURM_RESTART_COUNT = 0 ] || exit 0\n"
            "trap 'echo told; exit 0' TERM\nsrun true\necho up\nwhile :; do sleep 0.1; done\n",
        )
        eventually("it is up", lambda: "up\n" in self.cluster.log(job))
        self.good("scontrol", "requeue", job)
        self.cluster.wait_end(job)
        self.assertIn("told\n", (self.cluster.work / f"slurm-{job}.out").read_text())

    def test_sattach_follows_what_the_steps_write(self):
        go = self.cluster.work / "go"
        script = self.cluster.file("attached.sh", "#!/bin/sh\nsrun -n2 sh -c 'echo early; while [ ! -e go ]; do sleep 0.1; done; echo late $SLURM_PROCID'; exit 3\n")
        job = self.submit("-n2", script)
        self.cluster.wait_running(job)
        following = subprocess.Popen(
            [str(programs() / "slurm" / "sattach"), f"{job}.0"], env=self.cluster.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(following.kill)
        self.assertEqual([following.stdout.readline() for _ in range(2)], ["early\n"] * 2)
        go.touch()  # not before it follows
        out, error = following.communicate(timeout=60)
        self.assertEqual((following.returncode, sorted(out.split("\n"))), (3, ["", "late 0", "late 1"]), error)
        done = self.call("sattach", job)
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn(f"job {job} has ended: hai logs {job} shows what it wrote", done.stderr)
        self.assertEqual(self.call("sattach").returncode, 2)
        self.assertEqual(self.call("sattach", "999999").returncode, 3)


if __name__ == "__main__":
    unittest.main()
