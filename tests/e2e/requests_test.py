"""Arrays, and which nodes a job may have, on a cluster of real processes."""

import json
import subprocess
import unittest

import cluster

NODES = [
    {"name": "old-1", "gpus": 4, "gpu_model": "A100-SXM4-80GB", "label": "fast-disk"},
    {"name": "old-2", "gpus": 4, "gpu_model": "A100-SXM4-80GB"},
    {"name": "new-1", "gpus": 4, "gpu_model": "H800"},
]
SAYS = 'echo "task $HAI_ARRAY_TASK_ID of $HAI_ARRAY_TASK_COUNT, $SLURM_ARRAY_JOB_ID"'
SCRIPT = """#!/bin/bash
#SBATCH --array=3-9:3%1
#SBATCH --gres=gpu:h800:1
echo "index $SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME"
"""


class RequestsTest(cluster.ClusterTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster("requests")
        cls.addClassCleanup(cls.close_cluster)
        cls.cluster.topology = cls.cluster.file("topology.yaml", json.dumps(NODES))
        # Else a failed task may be opened again for minutes, and its counterpart waits.
        cls.cluster.up("--knob", "attribution_after=0s")

    def tearDown(self):
        left = [job["id"] for job in self.cluster.json("list", "--tasks")]
        left = [job for job in left if self.cluster.job(job)["ended_at"] is None]
        if left:
            self.cluster.hai("stop", *left)
            self.cluster.hai("wait", *left, "--timeout", "60s", seconds=90)

    def slurm(self, command, *words, stdin=None):
        return subprocess.run(
            [str(cluster.programs() / "slurm" / command), *map(str, words)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=90,
            cwd=self.cluster.work,
            env=self.cluster.environment(),
        )

    def test_an_array_is_one_line_and_ends_with_its_last_task(self):
        array = self.cluster.exec(SAYS, "--gpus", 1, "--array", "0-19", "--name", "sweep")
        ended = self.cluster.wait_end(array)
        self.assertEqual(ended["end_reason"], "20 of 20 tasks succeeded")
        self.assertEqual(ended["array"]["succeeded"], 20)
        self.assertEqual([job["id"] for job in self.cluster.json("list")][:1], [array])
        tasks = self.cluster.json("list", "--array", array)
        by_name = self.cluster.json("list", "--array", "sweep")
        self.assertEqual([task["id"] for task in by_name], [task["id"] for task in tasks])
        wrong = self.cluster.hai("list", "--array", tasks[0]["id"])
        self.assertEqual(wrong.code, 4, wrong)
        self.assertIn(f"is no array; its array is {array}", wrong.err)
        missing = self.cluster.hai("list", "--array", "nothing")
        self.assertEqual((missing.code, missing.err.count("\n")), (3, 1), missing)
        self.assertEqual(sorted(task["array_task"]["index"] for task in tasks), list(range(20)))
        said = self.cluster.log(f"{array}_7")
        self.assertIn(f"task 7 of 20, {array}", said)
        for how in ([], ["-f"], ["-r", "all"], ["--grep", "task"]):
            refused = self.cluster.hai("logs", array, *how)
            self.assertNotEqual(refused.code, 0, how)
            self.assertIn(f"name one, as {array}_0", refused.err)
        missing = self.cluster.hai("status", f"{array}_20")
        self.assertIn(f"`hai list --array {array} --finished`", missing.err)
        self.assertIn("0-19: 20 tasks, 0 unfinished, 20 succeeded", self.cluster.ok("status", array))

    def test_a_rank_that_is_done_gives_its_node_back(self):
        gate = self.cluster.work / "last-rank"
        whole = ("--gpus", 4, "--gpu-type", "a100")
        uneven = self.cluster.exec(
            f'[ "$RANK" = 1 ] || while [ ! -e {gate} ]; do sleep 0.1; done',
            "-n", 2, *whole, "--release-early",
        )
        self.cluster.wait_running(uneven)
        self.assertEqual(self.cluster.wait_end(self.cluster.exec("true", *whole))["state"], "succeeded")
        self.assertEqual(self.cluster.job(uneven)["state"], "running")
        self.assertRegex(self.cluster.ok("describe", uneven), r"1 +old-[12] .*released")
        gave = [event["text"] for event in self.cluster.json("events", uneven)]
        self.assertIn("rank 1 of attempt 1 has ended well and gives its place back", gave)
        gate.touch()
        self.assertEqual(self.cluster.wait_end(uneven)["state"], "succeeded")

    def test_the_tasks_of_two_arrays_in_pairs(self):
        gate = self.cluster.work / "pairs"
        gate.mkdir()
        made = f'[ "$HAI_ARRAY_TASK_ID" != 1 ] && touch {gate}/$HAI_ARRAY_TASK_ID'
        waits = f"while [ ! -e {gate}/go ]; do sleep 0.1; done; "
        first = self.cluster.exec(
            f'[ "$HAI_ARRAY_TASK_ID" = 3 ] && {{ {waits} }}; {made}', "--gpus", 1, "--array", "0-3"
        )
        script = f"#!/bin/sh\ntest -e {gate}/$SLURM_ARRAY_TASK_ID\n"
        done = self.slurm(
            "sbatch", "--parsable", "--gres=gpu:1", "--array=0-3", f"--dependency=aftercorr:{first}",
            stdin=script,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        second = int(done.stdout)
        for index in (0, 2):
            self.cluster.wait_state(f"{second}_{index}", "succeeded")
        self.cluster.wait_state(f"{second}_1", "stopped")
        why = self.cluster.ok("why", f"{second}_3")
        self.assertIn(f"waits for job {first}_3 to succeed (afterok)", why)
        (gate / "go").touch()
        ended = self.cluster.wait_end(second)
        self.assertEqual(ended["end_reason"], "3 of 4 tasks succeeded, 1 stopped")
        single = self.cluster.hai("exec", "true", "--", "--after", f"aftercorr:{first}")
        self.assertEqual(single.code, 4, single)
        self.assertIn("pairs the tasks of two arrays, and this is none", single.err)

    def test_tasks_are_stopped_by_number_and_all_at_once(self):
        array = self.cluster.exec("sleep 600", "--gpus", 1, "--array", "0-99999", "--name", "long")
        cluster.eventually(
            "tasks run",
            lambda: self.cluster.job(f"{array}_0")["state"] == "running",
        )
        self.cluster.ok("stop", f"{array}_[0-1]")
        self.cluster.wait_state(f"{array}_1", "stopped")
        self.assertIn(f"{array}_2", self.cluster.ok("list", "--tasks"))
        waits = self.cluster.job(array)["pending_reason"]
        self.assertEqual(waits["code"], "array")
        self.assertIn("of its 100000 tasks", waits["text"])
        self.cluster.ok("stop", array)
        self.assertEqual(self.cluster.wait_end(array, "stopped")["array"]["unfinished"], 0)

    def test_tasks_that_are_still_to_come_are_named_too(self):
        array = self.cluster.exec("sleep 600", "--gpus", 1, "--array", "0-9999%4", "--name", "wide")
        self.cluster.wait_running(f"{array}_3")
        self.cluster.ok("hold", f"{array}_9000")
        self.assertTrue(self.cluster.job(f"{array}_9000")["held"])
        self.assertIn("over the limit of its array", self.cluster.ok("release", f"{array}_9000"))
        self.assertEqual(self.cluster.job(f"{array}_9000")["pending_reason"]["code"], "array")
        reason = self.slurm("squeue", "-h", "-j", f"{array}_9000", "-o", "%r").stdout
        self.assertEqual(reason, "JobArrayTaskLimit\n")
        self.cluster.ok("stop", f"{array}_[5000-5009]")
        self.assertEqual(self.cluster.job(f"{array}_5009")["state"], "stopped")
        rest = self.slurm("squeue", "-h", "-j", array, "-o", "%i").stdout
        self.assertIn(f"{array}_[4-4999,5010-8999,9001-9999%4]", rest)
        waits = self.cluster.exec("true", "--gpus", "none", "--after", f"afterany:{array}_9000")
        self.assertIn(f"{array}_9000", self.cluster.ok("why", waits))
        self.cluster.ok("stop", f"{array}_9000")
        self.cluster.wait_end(waits)
        for job, said in (
            (f"{array}_10000", f"array {array} has no task 10000: its tasks are 0-9999"),
            (f"{array}_7000", f"task 7000 of array {array} is still to come, after task 4"),
        ):
            missing = self.cluster.hai("status", job)
            self.assertEqual(missing.code, 3, missing)
            self.assertIn(said, missing.err)
        self.cluster.ok("edit", array, "--array-limit", 6)
        self.cluster.wait_running(f"{array}_5")
        limit = self.slurm("scontrol", "update", f"JobId={array}", "ArrayTaskThrottle=0")
        self.assertEqual(limit.returncode, 0, limit.stderr)
        self.assertEqual(self.cluster.job(array)["array"]["range"], "0-9999")
        self.cluster.ok("stop", array)
        self.cluster.wait_end(array, "stopped")

    def test_tasks_are_named_alike_by_all_verbs(self):
        later = ["--gpus", 1, "--begin-at", "2099-01-01T00:00:00Z"]
        failing = ["--gpus", 1, "--array", "0-3", "--name", "mixed"]
        array = self.cluster.exec("exit $HAI_ARRAY_TASK_ID", *failing)
        self.cluster.wait_end(array, "failed")
        # Of an array only the tasks that failed.
        again = self.cluster.json("rerun", "--array", array, "--state", "failed")
        self.assertEqual(len(again), 3, again)
        for job in again:
            self.cluster.wait_end(job["id"], "failed")
        one = self.cluster.json("rerun", f"{array}_0")
        self.cluster.wait_end(one["id"])
        fields = ["-n", "-P", "-X", "-o", "JobID,State"]
        out = self.slurm("sacct", *fields, "-j", f"{array}_[0-1]").stdout
        self.assertEqual(out, f"{array}_0|COMPLETED\n{array}_1|FAILED\n")
        whole = self.slurm("sacct", "-n", "-P", "-o", "JobID", "-X", "-j", array).stdout
        self.assertEqual(whole.split(), [f"{array}_{index}" for index in range(4)])
        shown = self.slurm("scontrol", "show", "job", f"{array}_2").stdout
        self.assertIn(f"ArrayJobId={array} ArrayTaskId=2", shown)
        # Names and patterns.
        jobs = [self.cluster.exec("true", "--name", f"lr-{i}", *later) for i in range(3)]
        self.cluster.ok("priority", "lr-[01]", "low")
        self.cluster.ok("edit", "lr-*", "--timeout", "2h")
        self.assertEqual(
            [self.cluster.job(job)["priority"] for job in jobs][:2] + ["low"], ["low"] * 3
        )
        told = self.cluster.json("priority", f"{jobs[0]}-{jobs[2]}", "high")
        self.assertEqual([job["priority"] for job in told], ["high"] * 3)
        self.assertEqual(self.cluster.json("priority", jobs[0], "low")["priority"], "low")
        self.cluster.ok("priority", "normal", "--state", "queued", "-g", "training")
        self.assertEqual(self.cluster.job(jobs[0])["priority"], "normal")
        self.cluster.ok("move", "lr-[12]", "--first")
        self.cluster.ok("stop", "lr-*")
        refused = self.cluster.hai("rerun", "lr-*", "--state", "failed")
        self.assertEqual(refused.code, 3, refused)
        again = self.cluster.json("rerun", "--state", "stopped", "lr-*")
        self.assertEqual(sorted(job["name"] for job in again), ["lr-0", "lr-1", "lr-2"])
        refused = self.cluster.hai("rerun", "lr-*")  # they wait already
        self.assertIn("you have no ended job lr-*", refused.err)

    def test_slurm_changes_tasks(self):
        array = self.cluster.exec("sleep 600", "--gpus", 1, "--array", "0-3", "--name", "slow")
        self.cluster.wait_running(f"{array}_3")
        for words in (
            ("hold", f"{array}_[0,3]"),
            ("requeue", f"{array}_2"),
            ("update", f"JobId={array}_3", "TimeLimit=2:00:00"),
        ):
            done = self.slurm("scontrol", *words)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        held = [self.cluster.job(f"{array}_{index}")["held"] for index in range(4)]
        self.assertEqual(held, [True, False, False, True])
        shown = self.slurm("scontrol", "show", "job", f"{array}_3").stdout
        self.assertIn("TimeLimit=02:00:00", shown)
        self.assertEqual(self.slurm("scancel", "-t", "RUNNING", f"{array}_1").returncode, 0)
        self.cluster.wait_state(f"{array}_1", "stopped")
        bad = self.slurm("scontrol", "hold", f"{array}_x")
        self.assertEqual(bad.stderr, f"scontrol: error: Invalid job id specified: '{array}_x'\n")

    def test_a_filter_of_states_chooses_tasks_and_no_array(self):
        array = self.cluster.exec("sleep 600", "--gpus", 1, "--array", "0-9999", "--name", "wide")
        self.cluster.wait_running(f"{array}_0")
        queued = self.cluster.hai("stop", "wide*", "--state", "queued")
        self.assertIn(f"array {array}: its tasks that are not made yet stay", queued.err)
        self.assertEqual(self.cluster.job(f"{array}_0")["state"], "running")
        self.assertIsNone(self.cluster.job(array)["ended_at"])
        done = self.slurm("scancel", "-t", "PENDING", array)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        told = self.cluster.json("status", array)["array"]
        self.assertEqual((told["made"], told["to_come"]), (10_000, ""), told)
        self.assertEqual(told["stopped"] + told["unfinished"], 10_000, told)
        self.assertEqual(self.cluster.job(f"{array}_0")["state"], "running")
        self.cluster.ok("stop", array)
        self.cluster.wait_end(array, "stopped")

    def test_a_held_job_waits_until_it_is_released(self):
        sent = self.slurm("sbatch", "--parsable", "-H", "--gres=gpu:1", "--wrap", "true")
        self.assertEqual(sent.returncode, 0, sent.stderr)
        job = int(sent.stdout)
        self.assertEqual(self.cluster.job(job)["attempt"], 0)
        out = self.slurm("squeue", "-h", "-j", job, "-o", "%t %r").stdout
        self.assertEqual(out, "PD JobHeldUser\n")
        self.assertEqual(self.slurm("scontrol", "release", job).returncode, 0)
        self.cluster.wait_end(job)  # at once: its begin time is as it was asked for

    def test_restart_max_is_how_often_a_failure_is_run_again(self):
        job = self.cluster.exec("exit 3", "--gpus", 1, "--restart-max", 1)
        ended = self.cluster.wait_end(job, "failed")
        self.assertEqual(ended["attempt"], 2)

    def test_sbatch_array(self):
        self.cluster.file("array.sh", SCRIPT)
        sent = self.slurm("sbatch", "--parsable", "array.sh")
        self.assertEqual(sent.returncode, 0, sent.stderr)
        array = int(sent.stdout)
        self.cluster.wait_end(array)
        for index in (3, 6, 9):
            said = (self.cluster.work / f"slurm-{array}_{index}.out").read_text()
            self.assertEqual(said, f"index {index} on new-1\n")
        refused = self.slurm("sbatch", "--array=5-1", "array.sh")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("range 5-1 runs backwards", refused.stderr)

    def test_a_job_runs_only_on_nodes_that_it_may_have(self):
        for words, on in (
            (["--gpu-type", "h800"], {"new-1"}),
            (["--gpu-type", "a100", "--exclude", "old-1"], {"old-2"}),
            (["--label", "fast-disk"], {"old-1"}),
            (["--nodelist", "old-[1-2]", "-n", 2], {"old-1", "old-2"}),
        ):
            job = self.cluster.wait_end(self.cluster.exec("true", *words))
            self.assertEqual(set(job["nodes"]), on, words)
        for words, said in (
            (["--gpu-type", "h900"], "no node of training has a GPU of type 'h900'; there is: A100"),
            (["--label", "slow"], "has the label 'slow'; there is: fast-disk"),
            (["--nodelist", "x-[1-9]"], "none of x-[1-9] is a node of training"),
            (["--gpu-type", "h800", "-n", 2], "training has 1 node (GPU type h800)"),
            (["--array", "0-1000000000"], "indices go to 10000000"),
        ):
            refused = self.cluster.hai("exec", "true", "--", *words)
            self.assertNotEqual(refused.code, 0, words)
            self.assertIn(said, refused.err)
            self.assertEqual(len(refused.err.strip().splitlines()), 1, refused.err)
        self.assertEqual(self.cluster.node("old-1")["labels"], ["fast-disk"])


if __name__ == "__main__":
    unittest.main()
