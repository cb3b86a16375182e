"""A second agent under a node's name, made by copying its config: refused while the first may be
alive, whoever of them finds the server first, and let in once the first has surely gone.
"""

import re
import signal
import subprocess
import unittest

from cluster import ClusterTest, eventually, programs

# fence 4 + 3/4 * 6 = 8.5 s, as in fencing_test.
LEASE, DOWN_AFTER = 4, 10


class ImpostorTest(ClusterTest):
    shape = {"name": "impostor", "nodes": 4}
    up_options = ("--knob", f"agent_lease={LEASE}s", "--knob", f"down_after={DOWN_AFTER}s")

    def start_second_agent(self, node):
        """With the config of the node's own agent, but another data directory. Gives its log."""
        mark = f"start agent:{node}`"
        config = next(
            path for path in self.cluster.data.rglob("*.yaml") if mark in path.read_text()
        )
        own_data = f"data_dir: {self.cluster.work}/second"
        text = re.sub(r"(?m)^data_dir: .*$", own_data, config.read_text())
        copy = self.cluster.file("second.yaml", text)
        # That of this machine says nothing of a node that is only pretended.
        kmsg = self.cluster.file("kmsg", "")
        log = self.cluster.work / "second.log"
        with open(log, "wb") as file:
            agent = subprocess.Popen(
                [programs() / "hai-agent", "--config", copy, "--kmsg", kmsg],
                stdout=file,
                stderr=file,
            )

        def end():
            agent.send_signal(signal.SIGKILL)
            agent.wait()

        self.addCleanup(end)
        return log, end

    def refusals(self, log):
        return [line for line in log.read_text().splitlines() if "refused_by_server" in line]

    def assert_first_attempt(self, job):
        now = self.cluster.job(job)
        self.assertEqual((now["state"], now["attempt"]), ("running", 1))

    def assert_serves(self, node):
        now = self.cluster.node(node)
        self.assertEqual((now["liveness"], now["scheduling"]), ("up", "open"))

    def test_a_copied_config_costs_nothing(self):
        self.cluster.exec("sleep 1000", "-n", "2", "--name", "busy")
        node = self.cluster.wait_running("busy")["nodes"][0]
        log, end = self.start_second_agent(node)
        eventually("the second agent is refused", lambda: self.refusals(log))
        refusal = self.refusals(log)[0]
        self.assertIn(f"the name {node} belongs to the agent at 127.0.0.1 ", refusal)
        self.assertIn("the agent at 127.0.0.1 ", refusal.split("; ", 1)[1])
        incident = eventually("an incident", lambda: self.cluster.json("incidents"))
        self.assertEqual(
            [(each["kind"], each["nodes"]) for each in incident], [("name_taken", [node])]
        )
        self.assert_first_attempt("busy")
        self.assert_serves(node)

        # The node's own agent is not in its own way, and a server that starts anew knows it.
        self.cluster.kill(f"agent:{node}")
        self.cluster.start(f"agent:{node}")
        self.cluster.wait_node(node)
        self.cluster.kill("server")
        self.cluster.start("server")
        eventually("it answers", lambda: self.cluster.hai("nodes").code == 0)
        self.cluster.wait_node(node)
        self.assert_first_attempt("busy")
        self.assert_serves(node)
        self.assertNotIn("server_connected", log.read_text())

        # A machine that is gone gives its name away, without anybody's help.
        self.cluster.kill(f"node:{node}")
        self.cluster.wait_running("busy", attempt=2, seconds=60)
        eventually("the second agent is in", lambda: "server_connected" in log.read_text())
        self.cluster.wait_node(node)
        self.cluster.start(f"agent:{node}")
        first = self.cluster.data / "log" / f"agent-{node}.log"
        eventually("now the first one is refused", lambda: self.refusals(first))
        end()
        eventually(
            "the first one is back",
            lambda: "server_connected" in first.read_text().rsplit("refused_by_server", 1)[1],
        )
        self.cluster.wait_node(node)
        # Said once for each reason, however often it was tried: alive, silent, and by a new leader.
        said = [line.split("refused_by_server", 1)[1] for line in self.refusals(log)]
        self.assertLessEqual(len(said), 8, said)
        self.cluster.ok("stop", "busy")


if __name__ == "__main__":
    unittest.main()
