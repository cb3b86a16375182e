"""CPUs and memory, jobs without GPUs, and gangs on unequal nodes, on a cluster of real processes."""

import json
import unittest

import cluster

# Nodes of 8 and 4 GPUs, and one without any.
NODES = [
    {"name": "big", "zone": "A", "leaf": "a1", "gpus": 8},
    {"name": "small", "zone": "A", "leaf": "a1", "gpus": 4},
    {"name": "plain", "group": "cpu", "zone": "A", "leaf": "a1", "gpus": 0},
]
SLEEP = "sleep 600"


class HostTest(cluster.ClusterTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster("host")
        cls.addClassCleanup(cls.close_cluster)
        cls.cluster.topology = cls.cluster.file("topology.yaml", json.dumps(NODES))
        cls.cluster.up()
        cls.cpus = cls.cluster.node("big")["cpus"]

    def tearDown(self):
        left = [job["id"] for job in self.cluster.json("list")]
        if left:
            self.cluster.ok("stop", *left)
            self.cluster.hai("wait", *left, "--timeout", "60s", seconds=90)

    def test_two_shares_never_get_more_cpus_than_there_are(self):
        first = self.cluster.exec(SLEEP, "--gpus", 1, "--cpus", self.cpus)
        on = self.cluster.wait_running(first)["nodes"]
        second = self.cluster.exec(SLEEP, "--gpus", 1, "--cpus", self.cpus)
        self.assertNotEqual(self.cluster.wait_running(second)["nodes"], on)
        third = self.cluster.exec(SLEEP, "--gpus", 1, "--cpus", 1)
        waits = self.cluster.wait_job(
            third,
            "says why it waits",
            lambda job: (job["pending_reason"] or {}).get("code") == "resources",
        )
        self.assertIn("CPUs are short on 2 whose GPUs would do", waits["pending_reason"]["text"])
        self.assertEqual(self.cluster.node("big")["cpus_free"], 0)
        status = self.cluster.json("status")
        self.assertEqual(status["cpus"]["used"], 2 * self.cpus)
        self.cluster.ok("stop", first)
        self.cluster.wait_running(third)

    def test_a_job_without_gpus_sees_none_and_leaves_for_a_gang(self):
        script = 'echo "gpus:[$CUDA_VISIBLE_DEVICES]"; ' + SLEEP
        job = self.cluster.exec(script, "--gpus", "none", "--name", "prepare", "-p", "extreme_high")
        running = self.cluster.wait_running(job)
        self.assertEqual(running["gpus_per_node"], -1)
        cluster.eventually("it speaks", lambda: "gpus:[]" in self.cluster.log(job))
        self.assertIn("no GPUs", self.cluster.ok("describe", job))
        gang = self.cluster.exec("true", "-n", 2, "-p", "low", "--name", "gang")
        self.cluster.wait_end(gang)
        self.assertGreaterEqual(self.cluster.job(job)["suspend_count"], 1)
        self.cluster.wait_running(job, attempt=2)

    def test_nodes_without_gpus_take_jobs_without_gpus(self):
        job = self.cluster.exec(SLEEP, "--gpus", "none", "-g", "cpu", "--cpus", self.cpus)
        self.assertEqual(self.cluster.wait_running(job)["nodes"], ["plain"])
        self.assertEqual(self.cluster.node("plain")["cpus_free"], 0)
        refused = self.cluster.hai("exec", "true", "--", "-g", "cpu")
        self.assertNotEqual(refused.code, 0)

    def test_what_no_node_has_is_refused_in_one_line(self):
        before = [job["id"] for job in self.cluster.json("list")]
        for words, said in (
            (["--memory", "10Ti"], "resource.memory_per_node: 10240.0 GiB asked"),
            (["--cpus", self.cpus + 1], f"resource.cpus_per_node: {self.cpus + 1} asked"),
            (["--gpus", "none", "--grace", "10m"], "options.suspend.grace: must be at most 1m"),
            (["--gpus", "none", "--launch", "per_gpu"], "options.launch: per_gpu is for jobs with"),
        ):
            refused = self.cluster.hai("exec", "true", "--", *words)
            self.assertNotEqual(refused.code, 0, words)
            self.assertIn(said, refused.err)
            self.assertEqual(len(refused.err.strip().splitlines()), 1, refused.err)
        self.assertEqual([job["id"] for job in self.cluster.json("list")], before)

    def test_ranks_of_unequal_nodes_share_no_number(self):
        script = 'echo "process $RANK of $WORLD_SIZE"'
        job = self.cluster.exec(script, "-n", 2, "--launch", "per_gpu", "--env-style", "torch")
        self.cluster.wait_end(job)
        said = "".join(self.cluster.log(job, "-r", rank) for rank in (0, 1))
        numbers = sorted(int(line.split()[1]) for line in said.splitlines() if "process" in line)
        self.assertEqual(numbers, list(range(12)))
        self.assertEqual(said.count("of 12"), 12)


if __name__ == "__main__":
    unittest.main()
