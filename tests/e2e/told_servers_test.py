"""A node that knows one server, beside which another is set up later: the first goes for good."""

import contextlib
import unittest

from cluster import eventually
from servers import Servers


class ToldServersTest(unittest.TestCase):
    def setUp(self):
        self.cluster = Servers(count=2, nodes=0)
        self.addCleanup(self.cluster.close)
        self.first, self.second = self.cluster.servers

    def node_is_up(self):
        return self.cluster.nodes_up() == 1

    def told(self):
        with contextlib.suppress(FileNotFoundError):
            return set((self.cluster.root / "nodes/node-1/servers").read_text().split())
        return set()

    def test_jobs_run_on_when_the_only_server_that_was_named_is_gone(self):
        cluster = self.cluster
        cluster.database.start()
        self.first.start()
        eventually("the first leads", self.first.ready)
        cluster.start_agent("node-1", [self.first])
        eventually("the node is up", self.node_is_up, 60)
        job = cluster.run(cluster.spec_of_sleep("steady", gpus=1))
        cluster.wait_running(job)

        self.second.start()
        both = {f"127.0.0.1:{server.grpc}" for server in cluster.servers}
        eventually("the node is told of the second", lambda: self.told() == both, 60)
        self.first.kill()
        eventually("the second leads", self.second.ready)
        eventually("the node is back", self.node_is_up, 30)
        self.assertEqual((cluster.job(job)["state"], cluster.job(job)["attempt"]), ("running", 1))
        late = cluster.exec("echo under the second", "--gpus", 1)
        cluster.wait_end(late)

        # An agent that is started now knows of the second by what the last one has left.
        cluster.agents["node-1"].kill()
        cluster.agents["node-1"].wait()
        cluster.start_agent("node-1", [self.first])
        last = cluster.exec("echo under the next agent", "--gpus", 1)
        cluster.wait_end(last)
        self.assertEqual(cluster.log(last), "under the next agent\n")
        self.assertEqual((cluster.job(job)["state"], cluster.job(job)["attempt"]), ("running", 1))


if __name__ == "__main__":
    unittest.main()
