"""Cut off, or nobody leads? Ranks outlive the control plane, end before their job runs elsewhere,
and survive a restart of every agent, with real processes.

The ledger is the program's own: each rank appends what it does to a file, so that two attempts of
one job beside each other are seen whatever the server believes.
"""

import os
import signal
import time
import unittest

from cluster import ClusterTest, eventually

# agent_lease 4 s, fence 4 + 3/4 * 6 = 8.5 s, down_after 10 s.
LEASE, FENCE, DOWN_AFTER = 4, 8.5, 10
WORKER = r"""
# one line each 100 ms: attempt rank step time
step=0
while [ ! -e "$2" ]; do
  step=$((step + 1))
  echo "$HAI_ATTEMPT $HAI_NODE_RANK $step $(cut -d' ' -f1 /proc/uptime)" >> "$1"
  echo "line $step"
  sleep 0.1
done
"""


class FencingTest(ClusterTest):
    shape = {"name": "fencing", "nodes": 6}

    up_options = ("--knob", f"agent_lease={LEASE}s", "--knob", f"down_after={DOWN_AFTER}s")

    def worker(self, name, nodes):
        ledger = self.cluster.work / f"{name}.ledger"
        stop = self.cluster.work / f"{name}.stop"
        script = self.cluster.file(f"{name}.sh", WORKER)
        job = self.cluster.ok(
            "exec", "/bin/sh", script, ledger, stop, "--", "-n", nodes, "--name", name,
            "-o", "json",
        )
        self.cluster.wait_running(name)
        return ledger, stop

    @staticmethod
    def read(ledger):
        """{attempt: {rank: [times]}}"""
        entries = {}
        for line in ledger.read_text().splitlines():
            attempt, rank, _, time_text = line.split()
            entries.setdefault(int(attempt), {}).setdefault(int(rank), []).append(float(time_text))
        return entries

    def assert_one_at_a_time(self, ledger):
        spans = sorted(
            (min(map(min, ranks.values())), max(map(max, ranks.values())), attempt)
            for attempt, ranks in self.read(ledger).items()
        )
        for (_, end, first), (start, _, second) in zip(spans, spans[1:]):
            self.assertLess(end, start, f"attempts {first} and {second} ran beside each other")

    def wait_for_peers(self):
        """Every node knows whom to ask."""
        def known():
            events = self.cluster.json("events", "-n", 500)
            return {
                event["subject"] for event in events if event["kind"] == "node_peers_confirmed"
            }
        eventually("all nodes know their peers", lambda: len(known()) == self.shape["nodes"])

    def beats_for(self, ledger, seconds):
        """The ledger grows for so long: the ranks live."""
        end = time.monotonic() + seconds
        size = ledger.stat().st_size
        while time.monotonic() < end:
            eventually("the ranks go on", lambda: ledger.stat().st_size > size, seconds=5)
            size = ledger.stat().st_size

    def test_ranks_outlive_the_control_plane(self):
        self.wait_for_peers()
        ledger, stop = self.worker("outlives", 2)
        self.cluster.kill("server")
        self.beats_for(ledger, 2 * FENCE)
        # An agent that starts anew meanwhile still knows its peers, and its ranks stay.
        self.cluster.kill("agent:node-1")
        self.cluster.start("agent:node-1")
        self.beats_for(ledger, FENCE + 2)
        self.cluster.start("server")
        eventually(
            "all nodes are back",
            lambda: all(node["liveness"] == "up" for node in self.cluster.json("nodes")),
        )
        now = self.cluster.job("outlives")
        self.assertEqual((now["state"], now["attempt"]), ("running", 1))
        stop.touch()
        self.cluster.wait_end("outlives")
        self.assertEqual(list(self.read(ledger)), [1])

    def test_a_silent_node_ends_its_ranks_before_they_run_elsewhere(self):
        self.wait_for_peers()
        ledger, stop = self.worker("moves", 1)
        node = self.cluster.job("moves")["nodes"][0]
        self.cluster.kill(f"agent:{node}")  # its shim lives, and must end the rank by itself
        self.cluster.wait_running("moves", attempt=2, seconds=30)
        stop.touch()
        self.cluster.wait_end("moves")
        self.assert_one_at_a_time(ledger)
        self.assertEqual(sorted(self.read(ledger)), [1, 2])
        self.cluster.start(f"agent:{node}")
        self.cluster.wait_node(node)

    def test_a_stopped_leader_wakes_up_and_gives_way(self):
        """One server only: its own pause must not let it speak for its old term."""
        ledger, stop = self.worker("pause", 2)
        pid = self.cluster.status()["server"]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            self.beats_for(ledger, FENCE + 2)
        finally:
            os.kill(pid, signal.SIGCONT)
        eventually("it leads again", lambda: self.cluster.hai("nodes").code == 0)
        now = self.cluster.wait_running("pause")
        self.assertEqual(now["attempt"], 1)
        stop.touch()
        self.cluster.wait_end("pause")
        epochs = [
            event["text"] for event in self.cluster.json("events", "-n", 1000)
            if event["kind"] == "epoch_started"
        ]
        self.assertEqual(epochs, sorted(epochs, key=lambda text: int(text.rsplit(" ", 1)[1])))

    def test_a_restart_of_every_agent_costs_neither_a_rank_nor_a_log_line(self):
        ledger, stop = self.worker("upgrade", 3)
        follower = self.cluster.start_hai("logs", "-f", "upgrade", "-r", "1")
        nodes = [node["name"] for node in self.cluster.json("nodes")]
        for _ in range(3):
            self.cluster.kill(*(f"agent:{node}" for node in nodes))
            self.cluster.start(*(f"agent:{node}" for node in nodes))
            self.beats_for(ledger, 1)
        eventually(
            "all nodes are back",
            lambda: all(node["liveness"] == "up" for node in self.cluster.json("nodes")),
        )
        stop.touch()
        now = self.cluster.wait_end("upgrade")
        self.assertEqual(now["attempt"], 1)
        out, _ = follower.communicate(timeout=30)
        for rank in range(3):
            steps = len(self.read(ledger)[1][rank])
            lines = self.cluster.log("upgrade", "-r", rank).splitlines()
            self.assertEqual(lines, [f"line {i}" for i in range(1, steps + 1)])
        followed = [line.split("Z ", 1)[-1] for line in out.splitlines()]
        steps = len(self.read(ledger)[1][1])
        self.assertEqual([line for line in followed if line.startswith("line")],
                         [f"line {i}" for i in range(1, steps + 1)])

    def loss(self):
        found = [each for each in self.cluster.json("incidents") if each["kind"] == "mass_loss"]
        return found[0] if found else None

    def test_silent_nodes_make_one_incident_and_an_operator_may_vouch(self):
        self.wait_for_peers()
        ledger, stop = self.worker("wide", 3)
        nodes = self.cluster.job("wide")["nodes"]
        self.cluster.kill(*(f"node:{node}" for node in nodes))
        incident = eventually("an incident", lambda: self.cluster.json("incidents"), seconds=15)
        self.assertEqual([each["kind"] for each in incident], ["mass_loss"])
        self.assertEqual(sorted(incident[0]["nodes"]), sorted(nodes))
        refused = self.cluster.hai("fence", nodes[0])
        self.assertEqual(refused.code, 2)
        self.assertIn("--yes", refused.err)
        for node in nodes:
            self.cluster.ok("fence", node, "--yes", "--reason", "switched off")
        eventually("it says who is away", lambda: "surely ended" in self.loss()["summary"])
        self.cluster.start(*(f"agent:{node}" for node in nodes))
        self.cluster.wait_running("wide", attempt=2, seconds=30)
        eventually("the incident is over", lambda: self.loss() is None)
        stop.touch()
        self.cluster.wait_end("wide")
        self.assert_one_at_a_time(ledger)
        self.assertEqual(self.cluster.hai("fence", nodes[0], "--yes").code, 4)


if __name__ == "__main__":
    unittest.main()
