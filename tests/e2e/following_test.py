"""Waiting for a job to run, as a person sees it: its place, the reason and the estimate in one line
on a terminal, a line for each change elsewhere; then the log. Ctrl-C leaves the job alone."""

import os
import pathlib
import signal
import time
import unittest

import cluster
from cluster import programs, said
from terminal import Terminal


class FollowingTest(cluster.ClusterTest):
    shape = {"nodes": 1, "name": "following"}

    def setUp(self):
        self.full = self.cluster.exec("sleep 600", "-p", "high", "--name", "full")
        self.cluster.wait_running(self.full)
        self.addCleanup(self.end_all)

    def end_all(self):
        left = [job["id"] for job in self.cluster.json("list", "-s", "queued,running,suspended")]
        if left:
            self.cluster.ok("stop", *left)
            self.cluster.hai("wait", *left, "--timeout", "60s", seconds=90)

    def follow(self, *words, columns=120, **environment):
        terminal = Terminal(
            [programs() / "hai", *map(str, words)],
            self.cluster.environment(**environment),
            columns=columns,
            cwd=self.cluster.work,
        )
        self.addCleanup(terminal.close)
        return terminal

    def test_who_follows_a_held_job_sleeps(self):
        held = self.cluster.exec("true", "-p", "low", "--name", "held")
        self.cluster.ok("hold", held)
        follower = self.cluster.start_hai("logs", "-f", held)
        self.assertIn("held", follower.stderr.readline())
        stat = pathlib.Path(f"/proc/{follower.pid}/stat")

        def ticks():
            return sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[11:13]))

        began, before = time.monotonic(), ticks()
        time.sleep(1)  # a measurement: what it costs meanwhile
        cores = (ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)
        self.assertLess(cores, 0.3)
        self.cluster.ok("stop", held)
        follower.communicate(timeout=60)

    def test_one_line_on_a_terminal_then_the_log(self):
        before = self.cluster.exec("true", "-p", "high", "--name", "before")
        told = self.follow(
            "exec", "sh", "-c", "echo begun; sleep 600", "--", "-f", "-p", "normal", "--name", "it"
        )
        told.see("queued", "1 job before it", "needs 1 whole node in training")
        told.see("starts in about", seconds=60)
        job = self.cluster.job("it")["id"]
        lines = [line for line in told.screen.lines() if f"job {job} queued" in line]
        self.assertEqual(len(lines), 1, "the line is rewritten in its place")
        self.cluster.ok("stop", before)
        told.see("first in the queue", seconds=60)
        self.cluster.ok("stop", self.full)
        told.see("begun", f"job {job} starts on node-1 after")
        self.assertNotIn("queued", told.screen.text(), "the line has made room for the log")
        told.type("\x03")
        self.assertEqual(told.end(), 130)
        told.see(f"no longer following job {job}, it goes on: `hai logs -f {job}`, `hai stop {job}`")
        self.assertEqual(self.cluster.job(job)["state"], "running")
        # And back again, by what the hint says.
        again = self.follow("logs", "-f", job)
        again.see("begun")
        again.type("\x03")
        self.assertEqual(again.end(), 130)
        again.see("goes on", f"`hai logs -f {job}` follows it again")

    def test_a_narrow_terminal_gets_no_second_line(self):
        told = self.follow("exec", "true", "--", "-f", "-p", "normal", "--name", "it", columns=50)
        told.see("first in the queue", seconds=60)
        for _ in range(3):  # it is rewritten each second
            told.read(1)
        self.assertEqual(sum("queued" in line for line in told.screen.lines()), 1)
        told.type("\x03")
        self.assertEqual(told.end(), 130)

    def test_ctrl_c_while_it_waits_detaches(self):
        waits = self.cluster.exec("true", "-p", "normal", "--name", "waits")
        told = self.follow("logs", "-f", waits)
        told.see("queued")
        told.type("\x03")
        self.assertEqual(told.end(), 130)
        told.see("goes on")
        self.assertEqual(self.cluster.job(waits)["state"], "queued")

    def test_a_line_for_each_change_where_there_is_no_terminal(self):
        waits = self.cluster.exec("echo hello", "-p", "normal", "--name", "waits")
        follower = self.cluster.start_hai("logs", "-f", waits)
        lines = []
        for line in follower.stderr:
            lines.append(line)
            if "first in the queue" in line:
                break
        self.assertRegex(lines[0], rf"^hai: job {waits} is queued: needs 1 whole node")
        self.assertRegex(lines[-1], rf"^hai: job {waits}: first in the queue; expected to start in ")
        self.cluster.ok("stop", self.full)
        out, err = follower.communicate(timeout=60)
        self.assertEqual(follower.returncode, 0, err)
        self.assertEqual(said(out), "hello\n")
        told = "".join(lines) + err
        self.assertNotIn("\r", told)
        self.assertNotIn("\x1b", told)
        self.assertEqual(told.count("is queued: needs"), 1, told)

    def test_a_dumb_terminal_is_told_in_lines(self):
        waits = self.cluster.exec("true", "-p", "normal", "--name", "waits")
        told = self.follow("logs", "-f", waits, TERM="dumb")
        told.see("first in the queue", seconds=60)
        self.assertNotIn("\x1b", told.output)
        told.signal(signal.SIGINT)
        self.assertEqual(told.end(), 130)


if __name__ == "__main__":
    unittest.main()
