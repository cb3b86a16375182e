"""Logs: complete, in order, of each rank, while the job runs, moves and after it has ended."""

import unittest

from cluster import HERE, SDK, ClusterTest, eventually, said

LINES = 20_000


class LogsTest(ClusterTest):
    shape = {"name": "logs", "nodes": 2}

    def test_following_gives_every_line_once_and_in_order(self):
        self.cluster.file(
            "talk.py",
            f"for i in range({LINES}):\n    print(f'line {{i}} of rank', flush=i % 100 == 0)\n",
        )
        job = self.cluster.json("python", "talk.py", "--", "-n", 2)["id"]
        follower = self.cluster.start_hai("logs", "-f", job)
        out, err = follower.communicate(timeout=60)
        self.assertEqual(follower.returncode, 0, err)
        expected = "".join(f"line {i} of rank\n" for i in range(LINES))
        self.assertEqual(said(out), expected)
        self.assertEqual(self.cluster.log(job), expected, "and the same afterwards")
        self.assertEqual(self.cluster.log(job, "-r", 1), expected)
        last = "".join(f"line {i} of rank\n" for i in range(LINES - 3, LINES))
        self.assertEqual(said(self.cluster.ok("logs", job, "--tail", 3)), last)
        self.assertEqual(said(self.cluster.ok("logs", job, "--tail", 10 * LINES)), expected)
        tail = self.cluster.ok("logs", job, "--tail-bytes", 80)
        self.assertTrue(tail.endswith(f"line {LINES - 1} of rank\n"))
        self.assertLess(len(tail), 240)

    def test_the_last_lines_are_found_behind_long_ones(self):
        self.cluster.file("long.py", "for i in range(9): print('x' * 12_000, i)\nprint('end')\n")
        job = self.cluster.json("python", "long.py", "--", "-n", 1)["id"]
        self.cluster.wait_end(job)
        lines = self.cluster.log(job).splitlines(keepends=True)
        self.assertEqual(len(lines), 10)
        for count in (1, 2, 5, 10, 11):
            tail = said(self.cluster.ok("logs", job, "--tail", count))
            self.assertEqual(tail, "".join(lines[-count:]), f"--tail {count}")

    def test_lines_come_while_the_job_runs(self):
        gate = self.cluster.work / "gate"
        job = self.cluster.exec(
            f"echo before; while [ ! -e {gate} ]; do sleep 0.05; done; printf after-without-newline"
        )
        follower = self.cluster.start_hai("logs", "-f", job)
        self.assertEqual(said(follower.stdout.readline()), "before\n")
        gate.touch()
        out, _ = follower.communicate(timeout=30)
        self.assertEqual(said(out).rstrip("\n"), "after-without-newline")

    def test_each_rank_has_its_own(self):
        job = self.cluster.exec("echo I am $RANK", "-n", 2)
        self.cluster.wait_end(job)
        self.assertEqual(self.cluster.log(job), "I am 0\n")
        self.assertEqual(self.cluster.log(job, "-r", 1), "I am 1\n")
        result = self.cluster.hai("logs", job, "-r", 2)
        self.assertIn(result.code, (3, 4), result)
        self.assertRegex(result.err, r"\Ahai: [^\n]*rank[^\n]*\n\Z")

    def test_all_ranks_are_read_as_one_and_searched(self):
        self.cluster.file(
            "both.py",
            "import os, time\nfor i in range(50):\n"
            "    print(f'line {i} of', os.environ['RANK'], flush=True)\n    time.sleep(0.01)\n",
        )
        job = self.cluster.json("python", "both.py", "--", "-n", 2)["id"]
        follower = self.cluster.start_hai("logs", "-f", "-r", "all", job)
        out, err = follower.communicate(timeout=60)
        self.assertEqual(follower.returncode, 0, err)
        self.cluster.wait_end(job)
        whole = self.cluster.ok("logs", job, "-r", "all").splitlines()
        self.assertEqual(sorted(out.splitlines()), sorted(whole))
        times = [line.split()[1] for line in whole]
        self.assertEqual(times, sorted(times), "in the order of their times")
        for rank in range(2):
            own = [line.split(" ", 2)[2] for line in whole if line.startswith(f"{rank}: ")]
            self.assertEqual(own, [f"line {i} of {rank}" for i in range(50)])
        found = self.cluster.ok("logs", job, "--grep", "LINE 7 ", "-i").splitlines()
        self.assertEqual([line.split()[0] for line in found], ["1.0:", "1.1:"])
        self.assertEqual(self.cluster.hai("logs", job, "--grep", "LINE 7 ").code, 1)
        log = self.cluster.ok("logs", job).splitlines(keepends=True)
        since = log[30].split()[0]
        later = [line for line in log if line.split()[0] >= since]
        self.assertEqual(self.cluster.ok("logs", job, "--since", since), "".join(later))

    def test_following_goes_on_through_a_suspension(self):
        folder = self.cluster.work / "through"
        folder.mkdir()
        spec = self.cluster.spec(
            "through", HERE / "programs" / "saver.py", str(folder), environments={"SDK": str(SDK)}
        )
        job = self.cluster.run(spec)
        follower = self.cluster.start_hai("logs", "-f", job)
        self.assertIn("start 1", follower.stdout.readline())
        self.cluster.ok("suspend", job)
        self.cluster.wait_state(job, "suspended")
        self.cluster.ok("resume", job)
        (folder / "done").touch()
        out, _ = follower.communicate(timeout=60)
        self.assertEqual(
            [line.split()[0] for line in said(out).splitlines()], ["saved", "start", "done"]
        )
        self.assertIn("start 1", self.cluster.log(job, "--attempt", 1))
        self.assertIn("start 2", self.cluster.log(job, "--attempt", 2))

    def test_all_ranks_are_followed_through_a_suspension(self):
        job = self.cluster.exec('echo "attempt $HAI_ATTEMPT"; [ "$HAI_ATTEMPT" = 2 ] || sleep 600')
        self.cluster.wait_running(job)
        follower = self.cluster.start_hai("logs", "-f", "-r", "all", job)
        first = follower.stdout.readline()  # it follows the first attempt before that one ends
        self.cluster.ok("requeue", job)
        out, err = follower.communicate(timeout=90)
        self.assertEqual(follower.returncode, 0, err)
        said_by_all = [line.split(" ", 2)[2] for line in (first + out).splitlines()]
        self.assertEqual(said_by_all, ["attempt 1", "attempt 2"])
        self.assertIn(f"job {job} succeeded", err)

    def test_output_survives_the_death_of_the_agent(self):
        gate = self.cluster.work / "agent-gate"
        job = self.cluster.exec(
            f"i=0; while [ ! -e {gate} ]; do i=$((i+1)); echo $i; sleep 0.02; done; echo end"
        )
        now = self.cluster.wait_running(job)
        agent = f"agent:{now['nodes'][0]}"
        eventually("it talks", lambda: len(self.cluster.hai("logs", job).out.splitlines()) > 10)
        self.cluster.kill(agent)
        self.cluster.start(agent)
        self.cluster.wait_node(now["nodes"][0])
        gate.touch()
        self.cluster.wait_end(job)
        lines = self.cluster.log(job).splitlines()
        self.assertEqual(lines[-1], "end")
        self.assertEqual(lines[:-1], [str(i + 1) for i in range(len(lines) - 1)])

    def test_following_ends_as_the_job_did(self):
        for ranks in ([], ["-r", "all"]):
            failed = self.cluster.hai("logs", "-f", *ranks, self.cluster.exec("sleep 1; exit 9"))
            self.assertEqual(failed.code, 9, failed)
            self.assertRegex(failed.err, r"job \d+ failed: .*exited with code 9")
        job = self.cluster.exec("echo begun; sleep 600")
        follower = self.cluster.start_hai("logs", "-f", job)
        self.cluster.wait_running(job)
        self.cluster.ok("stop", job)
        follower.communicate(timeout=60)
        self.assertEqual(follower.returncode, 130)

    def test_a_job_that_never_ran_has_no_log_and_says_why(self):
        job = self.cluster.exec("true", "--begin-at", "2099-01-01T00:00:00Z")
        result = self.cluster.hai("logs", job)
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertIn("has no log yet", result.err)
        self.cluster.ok("stop", job)

    def test_junk_in_the_output_is_passed_on_unharmed(self):
        job = self.cluster.exec(r"printf 'nul \000 and high \377\376 end\n'")
        self.cluster.wait_end(job)
        self.assertIn("end", self.cluster.log(job))


if __name__ == "__main__":
    unittest.main()
