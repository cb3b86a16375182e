"""hai-validator as an ordinary job: every rank tests its node, and the ranks the network between them."""

import json
import subprocess
import unittest

from cluster import ClusterTest, programs

PREFIX = "HAI-VALIDATION "
QUICK = [
    "--quick", "--seconds", "100ms", "--memory-bytes", 3_000_000, "--storage-bytes", 8 << 20,
    "--exchange-bytes", 1 << 20,
]  # fmt: skip


class ValidatorTest(ClusterTest):
    shape = {"name": "validator", "nodes": 4}

    def report(self, job, rank):
        lines = self.cluster.log(job, "-r", rank).splitlines()
        [line] = [line for line in lines if line.startswith(PREFIX)]
        return json.loads(line[len(PREFIX) :])

    def test_four_ranks_test_their_nodes_and_each_other(self):
        job = self.cluster.json("exec", programs() / "hai-validator", *QUICK, "--", "-n", 4)["id"]
        self.cluster.wait_end(job)
        nodes = set()
        for rank in range(4):
            report = self.report(job, rank)
            nodes.add(report["node"])
            self.assertEqual(report["verdict"], "ok", report)
            self.assertEqual(report["profile"], "quick")
            values = {(test["name"], test["metric"]): test["value"] for test in report["tests"]}
            for name in (
                ("link", "cpus"),
                ("cpu", "compute_rate"),
                ("cpu", "memory_bandwidth"),
                ("allreduce", "ranks_bandwidth_4"),
                ("storage", "write_bandwidth"),
                ("storage", "read_bandwidth"),
            ):
                self.assertGreater(values[name], 0, name)
        self.assertEqual(nodes, {f"node-{i}" for i in range(1, 5)})

    def test_a_failed_test_fails_the_job(self):
        words = ["--tests", "storage", "--dir", "/nowhere"]
        job = self.cluster.json("exec", programs() / "hai-validator", *words, "--", "-n", 1)["id"]
        self.assertEqual(self.cluster.wait_end(job, "failed")["exit_code"], 1)
        self.assertEqual(self.report(job, 0)["verdict"], "fail")


class UsageTest(unittest.TestCase):
    def test_nonsense_is_refused_in_one_line(self):
        for words in (["--tests", "cpu,nothing"], ["--seconds", "soon"], ["--cpus", "-1"]):
            done = subprocess.run(
                [programs() / "hai-validator", *words], capture_output=True, text=True, check=False
            )
            self.assertEqual(done.returncode, 2, done)
            self.assertEqual(done.stdout, "")
            self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
