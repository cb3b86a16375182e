"""hai top on a real terminal against a real cluster: what one sees, what the keys do, and that the
terminal is given back on every way out."""

import re
import signal
import unittest

import cluster
from cluster import programs
from terminal import Terminal


def column(text, row, title):
    """What stands below `title` in the row that begins with the word `row`."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if re.match(r"\s*ID\s+NAME", line))
    at = lines[first].index(title)
    # Below the titles only: the line above them begins with a number, too.
    return next(line for line in lines[first + 1 :] if re.match(rf"\s*{row}\s", line))[at:].split()[0]


class TopTest(cluster.ClusterTest):
    shape = {"nodes": 2, "name": "top"}

    def top(self, *options, columns=100, rows=24, **environment):
        terminal = Terminal(
            [programs() / "hai", "top", *options],
            self.cluster.environment(**environment),
            columns=columns,
            rows=rows,
            cwd=self.cluster.work,
        )
        self.addCleanup(terminal.close)
        return terminal

    def test_a_job_is_seen_to_start_and_to_end(self):
        top = self.top()
        top.see("GPUs  16 in all: 0 used", "no jobs", "2 up")
        go = self.cluster.work / "go"
        job = self.cluster.exec(f"until [ -e {go} ]; do sleep 0.1; done", "--name", "short")
        top.see("short", "running", "8 used", " 50% used")
        top.see("1 running")
        go.touch()
        top.see("succeeded", "0 used")
        self.assertEqual(self.cluster.wait_end(job)["state"], "succeeded")
        top.type("q")
        self.assertEqual(top.end(), 0)
        self.assertTrue(top.is_as_before())
        self.assertNotIn("GPUs", top.screen.text())

    def test_keys_look_at_a_job_and_stop_it(self):
        keep = self.cluster.exec("sleep 600", "--name", "keep")
        self.cluster.wait_running(keep)
        doomed = self.cluster.exec("echo hello from rank 0; sleep 600", "--name", "doomed")
        self.cluster.wait_running(doomed)
        waits = self.cluster.exec("sleep 600", "--name", "waits", "--grace", "1s")
        top = self.top()
        top.see("keep", "doomed", "waits", "queued")
        top.type("/doomed\r")
        top.see("1 job, by state", "filter: doomed")
        top.type("\r")
        top.see(f"job           {doomed} doomed", "hello from rank 0", "RANK")
        top.type("\x1b")
        top.see("filter: doomed")
        top.type("X")
        top.see(f"Stop job {doomed} doomed")
        top.type("n")
        top.see("nothing was done")
        self.assertEqual(self.cluster.job(doomed)["state"], "running")
        top.type("Xy")
        self.cluster.wait_end(doomed, state="stopped")
        top.see("stopped")
        top.type("\x1b")
        top.until("waits runs", lambda text: "waits" in text and
                  column(text, waits, "STATE") == "running")
        top.type("/waits\r")
        top.see("1 job,")
        top.type("Sy")
        self.cluster.wait_state(waits, "suspended", seconds=60)
        top.until("it is held", lambda text: column(text, waits, "STATE") in ("held", "suspended"))
        top.type("Ry")
        self.cluster.wait_running(waits, attempt=2)
        top.type("\x03")
        self.assertEqual(top.end(), 0)
        self.cluster.ok("stop", keep, waits)
        self.cluster.wait_end(keep, state="stopped")
        self.cluster.wait_end(waits, state="stopped")

    def test_why_a_job_waits(self):
        wide = self.cluster.exec("sleep 600", "-n", 2, "--name", "wide")
        self.cluster.wait_running(wide)
        waits = self.cluster.exec("sleep 600", "--name", "waits")
        top = self.top("--filter", "waits", columns=120, rows=40)
        top.see("queued", "1 job,")
        top.type("\r")
        top.see("Why it waits", "It could start now but for", f"job {wide}")
        top.type("\x1b[D")
        top.see("filter: waits")
        top.type("q")
        self.assertEqual(top.end(), 0)
        self.cluster.ok("stop", wide, waits)
        self.cluster.wait_end(wide, state="stopped")

    def test_nodes_live_through_a_drain(self):
        top = self.top()
        top.see("no jobs")
        top.type("n")
        top.see("2 nodes, by name", "node-1", "node-2")
        self.cluster.ok("drain", "node-2", "--reason", "new fan")
        top.see("drained", "new fan", "8 draining")
        self.cluster.ok("undrain", "node-2")
        top.see_no_more("drained")
        top.type("\r")
        top.see("NAME", "CHECK")
        top.type("q")
        top.see("2 nodes")
        top.type("q")
        self.assertEqual(top.end(), 0)

    def test_the_terminal_is_given_back_on_every_way_out(self):
        for name, number in (("SIGTERM", 15), ("SIGINT", 2), ("SIGHUP", 1)):
            with self.subTest(name):
                top = self.top()
                top.see("q quit")
                self.assertFalse(top.is_as_before())
                top.signal(number)
                self.assertEqual(top.end(), 128 + number)
                self.assertTrue(top.is_as_before())
        with self.subTest("a crash"):
            top = self.top()
            top.see("q quit")
            top.signal(signal.SIGABRT)
            self.assertEqual(top.end(), -signal.SIGABRT)
            self.assertTrue(top.is_as_before())

    def test_it_follows_the_size_of_the_window(self):
        top = self.top(columns=80, rows=24)
        top.see("? help")
        for columns, rows in ((120, 40), (60, 12), (200, 50), (80, 24)):
            top.resize(columns, rows)
            top.until(
                f"a frame of {columns}x{rows}",
                lambda text: text.split("\n")[-1].startswith("q quit")
                and re.search(r"\d\d:\d\d:\d\d$", text.split("\n")[0])
                and len(text.split("\n")[0]) == columns,
            )
        top.type("q")
        self.assertEqual(top.end(), 0)

    def test_no_colour_where_it_is_not_wanted(self):
        for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
            top = self.top(**environment)
            top.see("GPUs", "q quit")
            top.type("q")
            self.assertEqual(top.end(), 0)
            self.assertEqual(bool(re.search(r"\x1b\[3\dm|\x1b\[9\dm", top.output)), coloured)

    def test_without_a_terminal_it_says_so_in_one_line(self):
        result = self.cluster.hai("top")
        self.assertEqual(
            (result.code, result.out, result.err),
            (2, "", "hai: hai top needs a terminal; --once prints one frame\n"),
        )
        dumb = self.top(TERM="dumb")
        self.assertEqual(dumb.end(), 2)
        self.assertIn("whose cursor can be moved", dumb.screen.text())

    def test_one_frame_is_text(self):
        job = self.cluster.exec("sleep 600", "--name", "once")
        self.cluster.wait_running(job)
        text = self.cluster.ok("top", "--once")
        self.assertNotIn("\x1b", text)
        self.assertIn("GPUs  16 in all: 8 used", text)
        self.assertEqual(column(text, job, "STATE"), "running")
        self.assertIn("node-2", self.cluster.ok("top", "--once", "-n"))
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, state="stopped")

    def test_a_server_that_goes_away_is_waited_for(self):
        top = self.top()
        top.see("2 up")
        self.cluster.kill("server")
        top.until("it says so", lambda text: "q quit" not in text.split("\n")[-1])
        self.cluster.start("server")
        top.see("q quit", seconds=60)
        job = self.cluster.exec("sleep 600", "--name", "after")
        top.see("after", "running", seconds=40)
        top.type("q")
        self.assertEqual(top.end(), 0)
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, state="stopped")


if __name__ == "__main__":
    unittest.main()
