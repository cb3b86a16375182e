"""Jobs after each other, again, and otherwise: dependencies on jobs that have left the server,
`hai rerun`, `hai edit`, many jobs at once, and programs without the SDK that are told to leave."""

import unittest

from cluster import ClusterTest, eventually

# Says what it was told, and that it has saved; ends with 0 as handlers do.
TOLD = """import signal, sys, time
def save(*_):
    open(sys.argv[1] + ".saved", "a").write("saved\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
open(sys.argv[1] + ".started", "w").close()
while True:
    time.sleep(0.05)
"""


class AgainTest(ClusterTest):
    shape = {"name": "again", "nodes": 2}

    def restart_server(self):
        self.cluster.kill("server")
        self.cluster.start("server")
        eventually("the server answers", lambda: self.cluster.hai("list").code == 0)

    def reason(self, job, code):
        now = self.cluster.wait_job(
            job, code, lambda job: job["pending_reason"] and job["pending_reason"]["code"] == code
        )
        return now["pending_reason"]["text"]

    def test_dependencies_on_jobs_that_ended_before_the_server_restarted(self):
        good = self.cluster.exec("true", "--name", "prep")
        bad = self.cluster.exec("exit 3", "--name", "broken")
        self.cluster.wait_end(good, "succeeded")
        self.cluster.wait_end(bad, "failed")
        waits = self.cluster.exec("true", "--name", "waits", "--after", "afterany:prep,prep")
        self.cluster.wait_end(waits, "succeeded")
        self.restart_server()
        for after in (f"{good}", "prep", f"afternotok:{bad}", "afterany:broken,after:broken"):
            self.cluster.wait_end(self.cluster.exec("true", "--after", after), "succeeded")
        for after, why in (
            (f"{bad}", f"job {bad} has failed, so that afterok can never be met"),
            ("broken", f"job {bad} has failed"),
            ("afternotok:prep", f"job {good} has succeeded"),
            ("nobody", "you have no job named nobody"),
            ("99999", "job 99999 does not exist"),
            ("later:prep", "must be afterok, afterany, afternotok, after, aftercorr or singleton"),
        ):
            result = self.cluster.hai("exec", "true", "--", "-n", 1, "--after", after)
            self.assertNotEqual(result.code, 0, result)
            self.assertIn(why, result.err)

    def test_tasks_of_an_array_that_ended_before_the_server_restarted(self):
        ends = "exit $HAI_ARRAY_TASK_ID"
        array = self.cluster.exec(ends, "--name", "sweep", "--gpus", 1, "--array", "0-3:3")
        self.cluster.wait_end(array, "failed")
        self.restart_server()
        self.assertEqual(self.cluster.job(f"{array}_3")["exit_code"], 3)
        for after in (f"{array}_0", f"afternotok:{array}_3,after:{array}_0"):
            self.cluster.wait_end(self.cluster.exec("true", "--after", after), "succeeded")
        for after, why in (
            (f"{array}_3", "has failed, so that afterok can never be met"),
            (f"{array}_2", f"array {array} has no task 2"),
        ):
            result = self.cluster.hai("exec", "true", "--", "-n", 1, "--after", after)
            self.assertNotEqual(result.code, 0, result)
            self.assertIn(why, result.err)
        again = self.cluster.json("rerun", f"{array}_3")
        self.assertEqual(self.cluster.job(again["id"])["array"]["range"], "3")

    def test_a_failed_dependency_is_mended_by_hai_rerun(self):
        flag = self.cluster.work / "flag"
        first = self.cluster.exec(f"test -e {flag}", "--name", "first")
        self.cluster.wait_end(first, "failed")
        blocked = self.cluster.exec(
            "true", "--name", "blocked", "--begin-at", "2099-01-01T00:00:00Z"
        )
        second = self.cluster.exec("true", "--name", "second", "--after", "blocked")
        self.assertIn(f"waits for job {blocked} to succeed", self.reason(second, "dependency"))
        self.assertIn("has to succeed first (afterok)", self.cluster.ok("why", second))
        self.cluster.ok("stop", blocked)
        self.assertIn(f"hai rerun {blocked}", self.reason(second, "dependency_failed"))
        again = self.cluster.json("rerun", blocked)
        self.assertEqual(again["name"], "blocked")
        self.cluster.ok("edit", again["id"], "--begin-at", "now")
        self.cluster.wait_end(again["id"], "succeeded")
        self.cluster.wait_end(second, "succeeded")
        # One that has left memory; its name is free, and taken the second time.
        self.restart_server()
        flag.touch()
        third = self.cluster.json("rerun", "first")
        self.assertEqual(third["name"], "first")
        self.cluster.wait_end(third["id"], "succeeded")

    def test_edit_counts_for_a_running_attempt_and_survives_a_restart(self):
        job = self.cluster.exec("sleep 600", "--name", "long", "-n", 1)
        self.cluster.wait_running(job)
        self.assertIn(
            "time limit 1h, its tags",
            self.cluster.ok("edit", "long", "--timeout", "1h", "--tag", "a"),
        )
        refused = self.cluster.hai("edit", "long", "-n", 2)
        self.assertEqual(refused.code, 4, refused)
        self.assertIn("only while it waits", refused.err)
        self.restart_server()
        spec = self.cluster.ok("describe", "long", "--spec")
        self.assertIn("timeout: 1h", spec)
        self.assertEqual([each["id"] for each in self.cluster.json("list", "--tag", "a")], [job])
        self.assertIn("edited: time limit 1h", self.cluster.ok("describe", "long"))
        # What describe says can be submitted again.
        file = self.cluster.work / "again.yaml"
        file.write_text(spec.replace("name: long", "name: again"))
        other = self.cluster.json("run", file)["id"]
        self.cluster.wait_running(other)
        self.cluster.ok("edit", "again", "--timeout", "1s")
        self.cluster.wait_end(other, "failed")
        self.assertIn("longer than its timeout", self.cluster.job(other)["end_reason"])
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")

    def test_a_plain_program_is_told_and_continues(self):
        path = self.cluster.work / "told"
        program = self.cluster.work / "told.py"
        program.write_text(TOLD)
        job = self.cluster.exec(f"python3 {program} {path}; exit $?", "--grace", "10m")
        eventually("it runs", (path.parent / "told.started").exists)
        self.cluster.ok("suspend", job)
        now = self.cluster.wait_job(job, "has left", lambda job: job["state"] == "suspended")
        self.assertEqual((path.parent / "told.saved").read_text(), "saved\n")
        self.assertEqual(now["attempt"], 1)
        (path.parent / "told.started").unlink()
        self.cluster.ok("resume", job)
        eventually("it runs again", (path.parent / "told.started").exists)
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")

    def test_many_at_once(self):
        jobs = [
            self.cluster.exec("true", "--name", f"sweep-{i}", "--begin-at", "2099-01-01T00:00:00Z")
            for i in range(4)
        ]
        self.cluster.ok("hold", "sweep-[01]")
        self.assertEqual(
            [self.cluster.job(job)["held"] for job in jobs], [True, True, False, False]
        )
        self.cluster.ok("stop", f"{jobs[0]}-{jobs[1]}")
        self.cluster.ok("stop", "--state", "queued")
        for job in jobs:
            self.assertEqual(self.cluster.job(job)["state"], "stopped")
        for words, why in (
            (("stop", "sweep-*"), "you have no unfinished job sweep-*"),
            (("stop", "9-3"), "lower one"),
            (("stop",), "needs JOB, or --state"),
        ):
            result = self.cluster.hai(*words)
            self.assertNotEqual(result.code, 0, result)
            self.assertIn(why, result.err)

    def test_follow_shows_the_rank_that_failed(self):
        result = self.cluster.hai(
            "exec",
            "/bin/sh",
            "-c",
            'if [ "$HAI_NODE_RANK" = 1 ]; then echo rank one is lost; exit 5; fi; sleep 600',
            "--",
            "-n",
            2,
            "-f",
        )
        self.assertIn("rank one is lost", result.out)
        self.assertIn("the last lines of rank 1, which failed", result.err)


if __name__ == "__main__":
    unittest.main()
