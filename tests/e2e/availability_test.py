"""Two servers on one PostgreSQL: what people and jobs notice when the leader or the database goes away.

HAI_LONG_OUTAGES=1 makes each outage a minute long. Without it they end before the agents' leases do.
"""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from cluster import eventually, said
from servers import TOKEN, Servers, ServersTest

LONG = os.environ.get("HAI_LONG_OUTAGES") == "1"
COUNTER = "i=0; while [ $i -lt %d ]; do echo line $i; i=$((i+1)); sleep 0.05; done"


class Submitter(threading.Thread):
    """Submits one job after the other, each with a key of its own, to whichever server takes it."""

    def __init__(self, cluster, prefix):
        super().__init__(daemon=True)
        self.cluster, self.prefix = cluster, prefix
        self.done = threading.Event()
        self.acknowledged, self.tried, self.refusals = {}, set(), set()

    def run(self):
        number = 0
        while not self.done.is_set():
            key = f"{self.prefix}-{number}"
            spec = self.cluster.spec(key, "/bin/true")
            spec["options"]["begin_at"] = "2099-01-01T00:00:00Z"
            self.tried.add(key)
            if self.submit(key, json.dumps(spec)):
                number += 1
            else:
                self.done.wait(0.02)

    def submit(self, key, body):
        for server in self.cluster.servers:
            status, _, text = server.get(
                "/api/v1/jobs", "POST", body, {"Idempotency-Key": key}, seconds=20
            )
            if status == 201:
                self.acknowledged[key] = json.loads(text)["id"]
                return True
            if status == 503:
                self.refusals.add(json.loads(text)["detail"].split(":")[0])
        return False

    def stop(self):
        self.done.set()
        self.join(timeout=60)


def check_once(test, submitter):
    """Every acknowledged submit is there once, and nothing else is."""
    rows = submitter.cluster.database.sql(
        f"SELECT request_id, count(*), min(id) FROM job WHERE request_id LIKE '{submitter.prefix}-%'"
        " GROUP BY 1"
    )
    found = {}
    for row in rows.splitlines():
        key, count, job = row.split("|")
        test.assertEqual(count, "1", f"{key} was done twice")
        found[key] = int(job)
    for key, job in submitter.acknowledged.items():
        test.assertEqual(found.get(key), job, f"{key} was acknowledged as job {job}")
    test.assertLessEqual(set(found), submitter.tried)


class AvailabilityTest(ServersTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # A drain asks it to leave: it is not told by a signal, so it stays.
        spec = cls.cluster.spec_of_sleep(
            "steady", gpus=1, options={"suspend": {"signal": "none"}}
        )
        cls.steady = cls.cluster.run(spec)
        cls.cluster.wait_running(cls.steady)
        # A node that knows no peers yet has nobody to ask whether only it is cut off.
        eventually("both nodes know their peers", cls.peers_are_known)

    @classmethod
    def peers_are_known(cls):
        sql = "SELECT count(DISTINCT subject) FROM event WHERE kind = 'node_peers_confirmed'"
        return cls.cluster.database.sql(sql) == "2"

    def setUp(self):
        result = self._outcome.result
        self.failures_before = len(result.failures) + len(result.errors)
        for server in self.cluster.servers:
            if server.process.poll() is not None:
                server.start()
        self.know(*self.cluster.servers)
        eventually("one leads, the other stands by", self.both_stand, 30)
        eventually("all nodes are up", lambda: self.cluster.nodes_up() == 2, 60)

    def tearDown(self):
        result = self._outcome.result
        if len(result.failures) + len(result.errors) > self.failures_before:
            for server in self.cluster.servers:
                print(f"--- server {server.number}\n{server.log.read_text()[-3000:]}")
        job = self.cluster.job(self.steady)
        if (job["state"], job["attempt"]) != ("running", 1):
            self.fail("a running job goes on\n" + self.cluster.ok("events", self.steady))

    def know(self, *servers):
        self.cluster.write_context([server.grpc for server in servers])

    def both_stand(self):
        texts = sorted(server.get("/readyz")[2] for server in self.cluster.servers)
        return texts[0] == "leading\n" and "leads" in texts[1]

    # -- a standby

    def test_a_standby_sends_everybody_to_the_leader(self):
        leader, standby = self.cluster.leader(), self.cluster.standby()
        self.assertEqual(standby.get("/livez")[0], 200)
        status, _, text = standby.get("/readyz")
        self.assertEqual(status, 503)
        self.assertEqual(text, f"standby; 127.0.0.1:{leader.grpc} leads\n")
        status, headers, text = standby.get("/api/v1/jobs?state=running&limit=5")
        self.assertEqual(status, 307)
        self.assertEqual(
            headers["Location"],
            f"http://127.0.0.1:{leader.http}/api/v1/jobs?state=running&limit=5",
        )
        self.assertEqual(json.loads(text)["title"], "standby")
        self.assertEqual((standby.metric("hai_leader"), leader.metric("hai_leader")), (0, 1))
        self.know(standby)
        self.assertEqual(self.cluster.job(self.steady)["state"], "running")
        job = self.cluster.exec("echo by the standby", "--gpus", 1)
        self.cluster.wait_end(job)
        self.assertEqual(self.cluster.log(job), "by the standby\n")

    def test_verbs_for_many_things_reach_the_leader_by_a_standby(self):
        """Their answer has a status for each thing; a refusal is none of them."""
        self.know(self.cluster.standby())
        jobs = [self.cluster.exec("sleep 1000", "--gpus", 1) for _ in range(2)]
        self.cluster.wait_running(jobs[0])
        for verb in ("suspend", "resume", "hold", "release", "stop"):
            self.cluster.ok(verb, jobs[0])
        self.cluster.ok("stop", *jobs)
        for job in jobs:
            self.cluster.wait_end(job, "stopped")
        node = self.cluster.json("nodes")[0]["name"]
        self.cluster.ok("drain", node, "--reason", "by the standby")
        self.cluster.ok("undrain", node)

    # -- the leader is killed

    def test_followers_lose_and_double_no_line(self):
        lines = 140
        expected = "".join(f"line {i}\n" for i in range(lines))
        job = self.cluster.exec(COUNTER % lines, "--gpus", 1)
        logs = self.cluster.start_hai("logs", "-f", job)
        run = self.cluster.start_hai(
            "exec", "/bin/sh", "-c", COUNTER % lines + "; exit 7", "--", "--gpus", 1, "-f"
        )
        wait = self.cluster.start_hai("wait", job)
        eventually("it has begun", lambda: "line 9" in self.cluster.hai("logs", job).out)
        self.cluster.leader().kill()
        out, err = logs.communicate(timeout=60)
        self.assertEqual(said(out), expected, err)
        out, err = run.communicate(timeout=60)
        self.assertEqual(said(out), expected, err)
        self.assertEqual(run.returncode, 7, err)
        self.assertEqual(wait.wait(timeout=30), 0)

    def test_a_command_waits_for_the_next_leader_and_is_done_once(self):
        submitter = Submitter(self.cluster, "failover")
        submitter.start()
        eventually("some are taken", lambda: len(submitter.acknowledged) > 5)
        self.cluster.leader().kill()
        before = len(submitter.acknowledged)
        result = self.cluster.hai("exec", "true", "--", "--gpus", 1, "-o", "json")
        self.assertEqual(result.code, 0, result)
        eventually("more are taken", lambda: len(submitter.acknowledged) > before + 5)
        submitter.stop()
        check_once(self, submitter)

    def test_a_lone_server_restarts_under_a_follower(self):
        leader, standby = self.cluster.leader(), self.cluster.standby()
        standby.kill()
        self.know(leader)
        lines = 80
        job = self.cluster.exec(COUNTER % lines, "--gpus", 1)
        logs = self.cluster.start_hai("logs", "-f", job)
        eventually("it has begun", lambda: "line 9" in self.cluster.hai("logs", job).out)
        leader.kill()
        leader.start()
        out, err = logs.communicate(timeout=60)
        self.assertEqual(said(out), "".join(f"line {i}\n" for i in range(lines)), err)

    # -- two leaders

    def test_a_leader_that_was_paused_can_neither_write_nor_command(self):
        leader, standby = self.cluster.leader(), self.cluster.standby()
        epochs = leader.metric("hai_failovers_total")
        lines = 160
        counting = self.cluster.exec(COUNTER % lines, "--gpus", 1)
        logs = self.cluster.start_hai("logs", "-f", counting)
        eventually("it has begun", lambda: "line 9" in self.cluster.hai("logs", counting).out)
        leader.signal(signal.SIGSTOP)
        # It lies in the paused server's socket, and is read when that wakes up.
        body = json.dumps(self.cluster.spec("late", "/bin/true"))
        late = socket.create_connection(("127.0.0.1", leader.http))
        late.sendall(
            f"POST /api/v1/jobs HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        eventually("the standby leads", standby.ready, 10)
        self.know(standby)
        job = self.cluster.exec("echo under the second", "--gpus", 1)
        self.cluster.wait_end(job)
        out, err = logs.communicate(timeout=60)  # the paused server never closed its stream
        self.assertEqual(said(out), "".join(f"line {i}\n" for i in range(lines)), err)
        leader.signal(signal.SIGCONT)
        late.settimeout(20)
        answer = b"".join(iter(lambda: late.recv(65536), b"")).decode()
        self.assertRegex(answer.split("\r\n")[0], "307|503", answer)
        eventually("it has stepped down", lambda: not leader.ready())
        self.assertEqual(leader.metric("hai_controller_step_downs_total"), 1)
        self.assertEqual(leader.metric("hai_failovers_total"), epochs)
        self.know(leader)
        self.assertEqual(self.cluster.log(job), "under the second\n", "it names the new leader")
        self.assertEqual(self.cluster.database.sql("SELECT count(*) FROM job WHERE name = 'late'"), "0")
        self.check_epochs()

    # -- the database goes away

    @contextlib.contextmanager
    def outage(self, name, begin, end, seconds=4):
        """Load before, during and after it. Reads answer, marked; writes are refused; nothing that
        was acknowledged is lost or there twice."""
        submitter = Submitter(self.cluster, name)
        submitter.start()
        eventually("some are taken", lambda: len(submitter.acknowledged) > 3)
        leader = self.cluster.leader()
        begin()
        ends_at = time.monotonic() + (60 if LONG else seconds)
        try:
            yield leader
            submitter.done.wait(max(0, ends_at - time.monotonic()))
        finally:
            end()
        eventually("a server leads again", self.cluster.leader, 30)
        before = len(submitter.acknowledged)
        eventually("submits are taken", lambda: len(submitter.acknowledged) > before + 3, 30)
        submitter.stop()
        check_once(self, submitter)
        self.check_epochs()

    def check_stale(self, leader):
        """Reads answer with what was durable, and say so; writes do not pretend."""

        def stale():
            status, headers, text = leader.get(f"/api/v1/jobs/{self.steady}")
            return status == 200 and "Hai-Stale-Since" in headers and (headers, text)

        headers, text = eventually("reads are marked stale", stale, 15)
        self.assertEqual(headers["Warning"], f'110 - "stale since {headers["Hai-Stale-Since"]}"')
        self.assertEqual(json.loads(text)["state"], "running")
        self.assertGreater(leader.metric("hai_store_unavailable_seconds"), 0)
        self.assertEqual(leader.metric("hai_leader"), 0)
        status, _, text = leader.get(f"/api/v1/jobs/{self.steady}/stop", "POST")
        self.assertEqual(status, 503, text)
        self.assertIn("the database cannot be reached", text)
        self.know(leader)
        result = self.cluster.hai("list", "-o", "json")
        self.assertEqual(result.code, 0, result)
        self.assertIn(self.steady, [job["id"] for job in result.json()])
        self.assertRegex(result.err, r"hai: the database cannot be reached; this is as of \d\d:\d\d")
        result = self.cluster.hai("stop", self.steady)
        self.assertEqual(result.code, 5, result)
        self.assertIn("nothing was changed, retry", result.err)
        self.know(*self.cluster.servers)

    def check_epochs(self):
        epochs = self.cluster.database.sql(
            "SELECT body->>'epoch' FROM event WHERE kind = 'epoch_started' ORDER BY seq"
        )
        numbers = [int(line) for line in epochs.split()]
        self.assertEqual(numbers, sorted(set(numbers)), "epochs only grow")
        gaps = self.cluster.database.sql("SELECT max(seq) - count(*) FROM event")
        self.assertEqual(gaps, "0", "the log has no gaps")

    def test_the_database_is_killed_and_comes_back(self):
        database = self.cluster.database
        with self.outage("killed", database.kill, database.start) as leader:
            self.check_stale(leader)

    def test_the_database_is_away_for_a_moment(self):
        database = self.cluster.database
        with self.outage("moment", database.kill, database.start, seconds=1):
            pass

    def test_the_database_hangs(self):
        database = self.cluster.database
        begin = lambda: database.signal(signal.SIGSTOP)  # noqa: E731
        end = lambda: database.signal(signal.SIGCONT)  # noqa: E731
        with self.outage("hangs", begin, end, seconds=8) as leader:
            self.check_stale(leader)

    def test_the_database_is_read_only(self):
        def set_read_only(value):
            self.cluster.database.run(
                "psql", "-h", self.cluster.database.data, "-U", "hai", "-d", "postgres", "-q",
                "-c", "SET default_transaction_read_only = off",
                "-c", f"ALTER SYSTEM SET default_transaction_read_only = {value}",
                "-c", "SELECT pg_reload_conf()",
            )

        with self.outage("readonly", lambda: set_read_only("on"), lambda: set_read_only("off")) as leader:
            self.check_stale(leader)

    def test_connections_are_reset(self):
        stop = threading.Event()

        def reset():
            while not stop.is_set():
                with contextlib.suppress(AssertionError):
                    self.cluster.database.sql(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE application_name = 'hai-server'"
                    )
                stop.wait(0.05)

        thread = threading.Thread(target=reset, daemon=True)

        def end():
            stop.set()
            thread.join()

        with self.outage("reset", thread.start, end):
            pass

    def test_commits_are_slow(self):
        sql = self.cluster.database.sql

        def begin():
            sql(
                "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN PERFORM pg_sleep(2); RETURN NULL; END $$;"
                "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED"
                " FOR EACH ROW WHEN (NEW.kind = 'job_submitted') EXECUTE FUNCTION slow()"
            )

        def end():
            # The lock waits for what is under way, and nobody may hold it up for ever.
            eventually(
                "the trigger is gone",
                lambda: not sql(
                    "SET lock_timeout = '10s'; DROP TRIGGER IF EXISTS slow ON event;"
                    " DROP FUNCTION IF EXISTS slow"
                ),
                60,
            )

        with self.outage("slow", begin, end, seconds=6):
            pass


class DiskFullTest(unittest.TestCase):
    """The database's disk is a small one of its own."""

    @unittest.skipUnless(os.geteuid() == 0, "mounting a tmpfs needs root")
    def test_a_full_disk_stops_writes_only_and_only_until_there_is_room(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hai-disk-"))
        mount = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", folder], capture_output=True
        )
        if mount.returncode != 0:
            self.skipTest("this machine lets nobody mount")
        self.addCleanup(lambda: (subprocess.run(["umount", folder]), folder.rmdir()))
        folder.chmod(0o755)
        settings = ("max_wal_size=64MB", "min_wal_size=32MB", "wal_recycle=off")
        cluster = Servers(count=1, nodes=1, data=folder / "pg", settings=settings)
        self.addCleanup(cluster.close)
        cluster.up()
        steady = cluster.run(cluster.spec_of_sleep("steady", gpus=1))
        cluster.wait_running(steady)
        submitter = Submitter(cluster, "full")
        submitter.start()
        eventually("some are taken", lambda: len(submitter.acknowledged) > 3)
        leader = cluster.servers[0]
        filler = folder / "filler"
        subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=64k"], capture_output=True)

        def stale():
            return "Hai-Stale-Since" in leader.get(f"/api/v1/jobs/{steady}")[1]

        eventually("writes fail, reads are marked stale", stale, 60)
        filler.unlink()
        if cluster.database.process.poll() is not None:  # PostgreSQL gives up when its log is full
            cluster.database.start()
        eventually("the server leads again", cluster.leader, 30)
        before = len(submitter.acknowledged)
        eventually("submits are taken", lambda: len(submitter.acknowledged) > before + 3, 30)
        submitter.stop()
        check_once(self, submitter)
        self.assertEqual(cluster.job(steady)["attempt"], 1)


if __name__ == "__main__":
    unittest.main()
