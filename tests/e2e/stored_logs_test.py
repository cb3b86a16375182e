"""Logs that outlive their node: the log store, on storage that nodes and servers share."""

import json
import os
import pathlib
import shutil
import subprocess
import time
import unittest

from cluster import ClusterTest, eventually, programs, said
from servers import Servers

LINES = 200


def rank_folder(store, job, attempt=1, rank=0):
    return pathlib.Path(store) / str(job // 1000) / str(job) / f"{attempt}.{rank}"


def stored_text(folder):
    """What zcat makes of a rank's chunks."""
    chunks = sorted(folder.glob("*.gz"))
    if not chunks:
        return ""
    return subprocess.run(["zcat", *map(str, chunks)], capture_output=True, text=True).stdout


def is_whole(folder):
    record = folder / "rank.json"
    return record.exists() and "ended_at" in json.loads(record.read_text())


class StoredLogsTest(ClusterTest):
    shape = {"name": "store", "nodes": 3}
    up_options = ("--knob", "heartbeat=1s", "--knob", "agent_lease=5s", "--knob", "down_after=11s")

    @property
    def store(self):
        return self.cluster.data / "log-store"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cluster = cls.cluster
        own = cluster.json("context")[0]["name"]
        cluster.ok("user", "add", "bob")
        token = cluster.ok("token", "create", "--user", "bob").strip()
        url = "https://" + cluster.status()["grpc"]
        cluster.ok("init", token, "--url", url, "--ca", cluster.ca_file, "--name", "bob")
        cluster.ok("context", "use", own)

    def test_the_lines_of_a_node_that_died_are_there_up_to_the_last_upload(self):
        job = self.cluster.exec(
            f"for i in $(seq {LINES}); do echo line $i; done; sleep 600"
        )
        node = self.cluster.wait_running(job)["nodes"][0]
        folder = rank_folder(self.store, job)
        expected = "".join(f"line {i + 1}\n" for i in range(LINES))
        eventually("all lines are in the store", lambda: said(stored_text(folder)) == expected)
        live = self.cluster.hai("logs", job)
        self.assertEqual((said(live.out), live.err), (expected, ""), "its node gives it itself")

        self.cluster.kill(f"node:{node}")
        self.cluster.wait_node(node, "down", seconds=60)
        dead = self.cluster.hai("logs", job, "--attempt", 1)
        self.assertEqual((said(dead.out), dead.code), (expected, 0), dead)
        self.assertRegex(
            dead.err,
            rf"\Ahai: node {node} is down: from the log store, up to "
            r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n\Z",
        )
        tail = self.cluster.hai("logs", job, "--attempt", 1, "--tail", 2)
        self.assertEqual(said(tail.out), f"line {LINES - 1}\nline {LINES}\n")
        self.assertEqual(tail.err.count("from the log store"), 1, tail)
        follow = self.cluster.hai("logs", "-f", job, "--attempt", 1)
        self.assertEqual(said(follow.out), expected, "a follower ends with what there is")
        refused = self.cluster.hai("logs", job, "--attempt", 1, env={"HAI_CONTEXT": "bob"})
        self.assertEqual((refused.code, refused.out), (4, ""), refused)
        self.assertIn("only he and operators read its logs", refused.err)

        self.cluster.ok("stop", job)
        self.cluster.start(f"node:{node}")
        self.cluster.wait_node(node)
        back = self.cluster.hai("logs", job, "--attempt", 1)
        self.assertEqual((said(back.out), back.err), (expected, ""), "the node has it again")

    def test_a_finished_log_outlives_the_one_on_its_node(self):
        job = self.cluster.exec("echo a last word")
        node = self.cluster.wait_end(job)["nodes"][0]
        folder = rank_folder(self.store, job)
        eventually("the log is whole in the store", lambda: is_whole(folder))
        spool = self.cluster.data / "nodes" / node / "logs" / f"{job}.1.0"
        shutil.rmtree(spool)
        result = self.cluster.hai("logs", job)
        self.assertEqual((said(result.out), result.code), ("a last word\n", 0), result)
        self.assertEqual(
            result.err, f"hai: node {node} has not kept this log: from the log store\n"
        )
        pending = self.cluster.data / "nodes" / node / "log_uploads"
        eventually("nothing is left to be brought", lambda: not list(pending.iterdir()))

    def test_the_steps_of_a_batch_job_go_there_too(self):
        def slurm(command, *words, stdin=None):
            return subprocess.run([programs() / "slurm" / command, *map(str, words)], input=stdin, text=True,
                                  capture_output=True, cwd=self.cluster.work, env=self.cluster.environment(), timeout=60)

        done = slurm("sbatch", "--parsable", stdin="#!/bin/sh\nsrun true\nsrun false\nexit 0\n")
        job = int(done.stdout)
        node = self.cluster.wait_end(job)["nodes"][0]
        record = rank_folder(self.store, job, rank=99_999)
        eventually("the record is whole in the store", lambda: is_whole(record))
        logs = self.cluster.data / "nodes" / node / "logs"
        for spool in logs.glob(f"{job}.1.*"):
            shutil.rmtree(spool)
        rows = slurm("sacct", "-nP", "-j", job, "-o", "JobID,State")
        self.assertEqual(
            rows.stdout.splitlines()[2:], [f"{job}.0|COMPLETED", f"{job}.1|FAILED"], rows
        )
        self.assertEqual(
            rows.stderr, f"hai: node {node} has not kept this log: from the log store\n"
        )

    def test_nobody_else_can_read_the_files(self):
        job = self.cluster.exec("echo secret")
        self.cluster.wait_end(job)
        folder = rank_folder(self.store, job)
        eventually("the log is whole in the store", lambda: is_whole(folder))
        for path in [self.store, *self.store.rglob("*")]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_a_log_that_is_nowhere_says_both(self):
        job = self.cluster.exec("echo gone")
        node = self.cluster.wait_end(job)["nodes"][0]
        folder = rank_folder(self.store, job)
        eventually("the log is whole in the store", lambda: is_whole(folder))
        shutil.rmtree(folder)
        shutil.rmtree(self.cluster.data / "nodes" / node / "logs" / f"{job}.1.0")
        result = self.cluster.hai("logs", job)
        self.assertEqual((result.code, result.out), (3, ""), result)
        self.assertIn(f"no log of rank {job}.1.0 on this node", result.err)
        self.assertIn(f"the log store has no log of rank {job}.1.0", result.err)


class StoreServers(Servers):
    """One server and two nodes with a log store that is looked through every second."""

    def __init__(self):
        super().__init__(count=1, nodes=2)
        self.store = self.root / "shared" / "logs"
        self.store.mkdir(parents=True, mode=0o700)
        self.agent_options = f'logs: {{store: "{self.store}", every: 1s}}\n'

    def server_config(self, server):
        return super().server_config(server) + (
            f'logs: {{store: "{self.store}", keep: 24h, user_max: 16Ki, sweep_every: 1s}}\n'
        )


class StoreLimitsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = StoreServers()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.up()

    def finished(self, script):
        job = self.cluster.exec(script)
        self.cluster.wait_end(job)
        folder = rank_folder(self.cluster.store, job)
        eventually("the log is whole in the store", lambda: is_whole(folder))
        return job, folder

    def test_what_is_too_old_goes(self):
        old, old_folder = self.finished("echo old")
        new, new_folder = self.finished("echo new")
        running = self.cluster.exec("echo running; sleep 600")
        running_folder = rank_folder(self.cluster.store, running)
        eventually("its log is in the store", lambda: list(running_folder.glob("*.gz")))
        two_days_ago = time.time() - 48 * 3600
        for folder in (old_folder, running_folder):
            for path in folder.iterdir():
                os.utime(path, (two_days_ago, two_days_ago))
        eventually("the old log is deleted", lambda: not old_folder.exists())
        self.assertTrue(new_folder.exists())
        self.assertTrue(running_folder.exists(), "what runs is not deleted, however silent it is")
        eventually(  # the sweep counts when it has gone through all
            "it is counted",
            lambda: self.cluster.leader().metric("hai_log_store_deleted_total") >= 1.0,
        )
        self.cluster.ok("stop", running)

    def test_who_has_too_much_loses_the_oldest(self):
        # Random bytes, which gzip makes no smaller than three quarters of their base64.
        random = "head -c 6000 /dev/urandom | base64"
        first, first_folder = self.finished(random)
        second, second_folder = self.finished(random)
        self.assertTrue(first_folder.exists())
        third, third_folder = self.finished(random)
        eventually("the oldest is deleted", lambda: not first_folder.exists())
        self.assertTrue(third_folder.exists())
        self.assertEqual(len(self.cluster.log(first).split()), len(self.cluster.log(third).split()))

    def test_without_its_store_the_cluster_goes_on_and_says_so(self):
        away = self.cluster.store.with_name("away")
        before, before_folder = self.finished("echo before")
        self.cluster.store.rename(away)
        try:
            job = self.cluster.exec("echo without a store")
            node = self.cluster.wait_end(job)["nodes"][0]
            self.assertEqual(self.cluster.log(job), "without a store\n")

            def warning():
                checks = self.cluster.node(node)["checks"]
                return next((c for c in checks if c["name"] == "log_store"), {"state": "ok"})

            eventually("its node warns", lambda: warning()["state"] == "warn", 60)
            self.assertIn("mount the file system", warning()["text"])
            eventually(
                "the server says so",
                lambda: self.cluster.leader().metric("hai_log_store_failing") == 1.0,
            )
            self.assertFalse(self.cluster.store.exists(), "nobody makes it")
            shutil.rmtree(self.cluster.root / "nodes" / node / "logs" / f"{job}.1.0", True)
            lost = self.cluster.hai("logs", job)
            self.assertNotEqual(lost.code, 0)
            self.assertIn("mount the file system", lost.err)
            late = self.cluster.exec("echo brought later")
            self.cluster.wait_end(late)
        finally:
            away.rename(self.cluster.store)
        folder = rank_folder(self.cluster.store, late)
        eventually("what has waited is brought", lambda: is_whole(folder), 60)
        self.assertEqual(said(stored_text(folder)), "brought later\n")
        eventually(
            "the server says so",
            lambda: self.cluster.leader().metric("hai_log_store_failing") == 0.0,
        )


if __name__ == "__main__":
    unittest.main()
