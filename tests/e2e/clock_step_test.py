"""Clocks that are stepped by an hour under running jobs: the leader's, a node's, that of the standby
which takes over. Each server and each agent has a wall clock of its own here, by Debian's
libfaketime, which reads its offset from a file while the program runs; the monotonic clock is the
machine's, as it is after a real step. Over TLS, whose certificates have times in them, too.
"""

import datetime
import json
import pathlib
import signal
import time
import unittest

from cluster import eventually
from fencing_test import WORKER
from servers import ServersTest
from tls_test import TlsServers

LIBRARY = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
HOUR = 3600
# agent_lease 4 s, fence 8.5 s, down_after 10 s: a wrong clock lasts longer than all of them.
LEASE, FENCE, DOWN_AFTER = 4, 8.5, 10


class Clock:
    """The wall clock of one machine."""

    def __init__(self, path):
        self.path = path
        self.step(0)

    def step(self, seconds):
        """From now on it is so many seconds ahead of the true time; less than 0: behind."""
        fresh = self.path.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        fresh.rename(self.path)

    def environment(self):
        return {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(self.path),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
        }

    def wrapper(self):
        return ["env", *(f"{name}={value}" for name, value in self.environment().items())]


class ClockServers(TlsServers):
    """Two servers and two nodes over TLS, and their database, each with a clock of its own in `clocks`."""

    def __init__(self):
        knobs = f", agent_lease: {LEASE}s, down_after: {DOWN_AFTER}s"
        super().__init__(count=2, nodes=2, knobs=knobs)
        names = [f"server-{server.number}" for server in self.servers] + ["node-1", "node-2", "database"]
        self.clocks = {name: Clock(self.root / f"{name}.clock") for name in names}
        for server in self.servers:
            server.wrapper = self.clocks[f"server-{server.number}"].wrapper()
        self.database.environment = self.clocks["database"].environment()

    def context(self, ca, host="127.0.0.1"):
        super().context(ca, host)
        path = self.root / "config.json"
        found = json.loads(path.read_text())
        found["contexts"][0]["servers"] = [f"{host}:{server.grpc}" for server in self.servers]
        path.write_text(json.dumps(found))

    def environment(self, **more):
        return super().environment(**more, **self.of_agent)

    of_agent = {}

    def start_agent(self, name, **options):
        self.of_agent = self.clocks[name].environment()
        try:
            super().start_agent(name, **options)
        finally:
            self.of_agent = {}

    def clock_of(self, server):
        return self.clocks[f"server-{server.number}"]

    def epochs(self):
        return int(self.database.sql("SELECT count(*) FROM event WHERE kind = 'epoch_started'"))


@unittest.skipUnless(LIBRARY, "Debian's libfaketime is not installed")
class ClockStepTest(ServersTest):
    make = ClockServers

    def setUp(self):
        for server in self.cluster.servers:
            if server.process.poll() is not None:
                server.start()
        eventually("a server leads", self.cluster.leader)
        eventually("all nodes are up", lambda: self.cluster.nodes_up() == 2, 60)

    def tearDown(self):
        for clock in self.cluster.clocks.values():
            clock.step(0)
        for job in self.cluster.json("list"):
            self.cluster.hai("stop", job["id"])

    def worker(self, name, *options):
        """A gang on both nodes whose ranks write a line each 100 ms, into (ledger, file that ends it)."""
        ledger = self.cluster.work / f"{name}.ledger"
        stop = self.cluster.work / f"{name}.stop"
        script = self.cluster.file(f"{name}.sh", WORKER)
        self.cluster.ok(
            "exec", "/bin/sh", script, ledger, stop, "--", "-n", 2, "--gpus", 4, "--name", name, *options
        )
        self.cluster.wait_running(name)
        return ledger, stop

    def goes_on(self, ledger, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            size = ledger.stat().st_size
            eventually("the ranks go on", lambda: ledger.stat().st_size > size, seconds=5)

    def others_run(self, text):
        """A job that comes while a clock is wrong runs, and its log can be read."""
        job = self.cluster.exec(f"echo {text}", "--gpus", 1)
        self.cluster.wait_end(job)
        self.assertEqual(self.cluster.log(job), text + "\n")

    def ends_well(self, name, stop, ledger):
        stop.touch()
        now = self.cluster.wait_end(name)
        self.assertEqual(now["attempt"], 1, self.cluster.ok("events", now["id"]))
        self.assertEqual({line.split()[0] for line in ledger.read_text().splitlines()}, {"1"})
        # The hour is not in what people pay for.
        began, ended = (datetime.datetime.fromisoformat(now[key]) for key in ("started_at", "ended_at"))
        self.assertLess((ended - began).total_seconds(), HOUR / 2, now)

    def audited(self):
        return self.cluster.json("audit", "--call", "ControlNode")

    def steps(self, clock, ledger, text):
        for seconds, wait in ((HOUR, DOWN_AFTER + LEASE), (-HOUR, LEASE), (0, LEASE)):
            clock.step(seconds)
            self.goes_on(ledger, wait)
            self.others_run(f"{text} {seconds:+d}")
            self.assertEqual(self.cluster.nodes_up(), 2)

    def test_the_fake_clock_is_the_servers_own(self):
        """Else all of this would test nothing: what it does now is audited an hour ahead."""
        for seconds in (HOUR, -HOUR):
            self.cluster.clock_of(self.cluster.leader()).step(seconds)
            before = len(self.audited())
            self.cluster.ok("undrain", "node-1")
            last = eventually("it is audited", lambda: self.audited()[before:])[-1]
            ahead = datetime.datetime.fromisoformat(last["at"]).timestamp() - time.time()
            self.assertAlmostEqual(ahead, seconds, delta=HOUR / 4)

    def test_the_leaders_clock(self):
        """Neither it nor a time limit ends a job, and nobody else takes the lead."""
        ledger, stop = self.worker("leader", "--timeout", "30m")
        epochs = self.cluster.epochs()
        self.steps(self.cluster.clock_of(self.cluster.leader()), ledger, "leader")
        self.assertEqual(self.cluster.epochs(), epochs)
        self.ends_well("leader", stop, ledger)

    def test_a_nodes_clock(self):
        ledger, stop = self.worker("node", "--timeout", "30m")
        self.steps(self.cluster.clocks["node-1"], ledger, "node")
        self.ends_well("node", stop, ledger)

    def takes_over(self, name, seconds):
        """A server whose clock is wrong takes the lead; then its clock is set right."""
        ledger, stop = self.worker(name, "--timeout", "30m")
        epochs = self.cluster.epochs()
        leader, standby = self.cluster.leader(), self.cluster.standby()
        self.cluster.clock_of(standby).step(seconds)
        leader.kill()
        eventually("the standby leads", lambda: self.cluster.is_ready(standby))
        # It is ready before the first event of its epoch is in the store.
        eventually("its epoch is in the store", lambda: self.cluster.epochs() > epochs)
        self.goes_on(ledger, DOWN_AFTER + LEASE)
        self.others_run(f"{name} wrong")
        self.cluster.clock_of(standby).step(0)
        self.goes_on(ledger, LEASE)
        self.others_run(f"{name} right")
        leader.start()
        self.ends_well(name, stop, ledger)

    def test_a_server_that_is_an_hour_ahead_takes_over(self):
        self.takes_over("ahead", HOUR)

    def test_a_server_that_is_an_hour_behind_takes_over(self):
        self.takes_over("behind", -HOUR)

    def test_the_databases_clock(self):
        """Set back, it would have kept the lease for an hour of a leader that is silent and not known to be
        dead, as one on another machine: stopped here."""
        ledger, stop = self.worker("database", "--timeout", "30m")
        for seconds in (HOUR, 0, -HOUR):
            self.cluster.clocks["database"].step(seconds)
            now = float(self.cluster.database.sql("SELECT extract(epoch FROM clock_timestamp())"))
            self.assertAlmostEqual(now - time.time(), seconds, delta=HOUR / 4)
            self.goes_on(ledger, LEASE)
            self.others_run(f"database {seconds:+d}")
        leader, standby = self.cluster.leader(), self.cluster.standby()
        leader.signal(signal.SIGSTOP)
        try:
            eventually("the standby leads", lambda: self.cluster.is_ready(standby), 20)
        finally:
            leader.signal(signal.SIGCONT)
        self.others_run("another leads")
        self.ends_well("database", stop, ledger)


if __name__ == "__main__":
    unittest.main()
