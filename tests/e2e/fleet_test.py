"""A fleet: many nodes in one process, with real connections and pretended ranks, and the faults that
it can be told to have. The ranks are counted in the fleet itself, not by the server's opinion."""

import re
import unittest

from cluster import ClusterTest, eventually

LEASE, DOWN_AFTER = 4, 10


class FleetTest(ClusterTest):
    shape = {"name": "fleet", "fleet": 60}
    up_options = (
        ["--knob", "heartbeat=1s", "--knob", f"agent_lease={LEASE}s"]
        + ["--knob", f"down_after={DOWN_AFTER}s"]
    )

    def tell(self, *words):
        return self.cluster.ok("dev", "fleet", "--name", "fleet", *words).strip()

    def count(self, what):
        return int(re.search(rf"{what}=(\d+)", self.tell("status")).group(1))

    def sleeper(self, name, seconds, nodes=1, **more):
        return self.cluster.run(self.cluster.spec(name, "sleep", str(seconds), nodes=nodes, **more))

    def test_gangs_run_as_long_as_they_say(self):
        self.cluster.wait_end(self.sleeper("two-seconds", 2, nodes=50))
        self.cluster.wait_end(self.sleeper("fails", "soon"), "failed")
        self.assertEqual(self.count("ranks"), 0)

    def test_a_dead_node_loses_its_rank_and_comes_back_empty(self):
        job = self.sleeper("on-a-dying-node", 600)
        node = self.cluster.wait_running(job)["nodes"][0]
        self.cluster.kill(f"node:{node}")
        self.assertEqual((self.count("dead"), self.count("ranks")), (1, 0))
        self.cluster.wait_node(node, "suspect")
        self.cluster.start(f"node:{node}")
        self.cluster.wait_node(node)
        self.assertEqual(self.cluster.wait_running(job, attempt=2)["attempt"], 2)
        self.assertEqual(self.count("ranks"), 1)
        self.cluster.ok("stop", job)

    def test_a_silent_node_ends_its_rank_before_the_job_runs_elsewhere(self):
        job = self.sleeper("on-a-silent-node", 600)
        node = self.cluster.wait_running(job)["nodes"][0]
        self.tell("silence", node)

        def second():
            now = self.cluster.job(job)
            self.assertLessEqual(self.count("ranks"), 1, "two ranks of one job at a time")
            return now["attempt"] == 2 and now["attempt_state"] == "running" and now

        moved = eventually("it runs elsewhere", second, 60)
        self.assertNotIn(node, moved["nodes"])
        self.tell("restore", node)
        self.cluster.wait_node(node)
        self.cluster.ok("stop", job)

    def test_a_failing_launch_moves_the_job(self):
        job = self.sleeper("held", 600, nodes=60)  # every node: the faulty one is among them
        self.cluster.wait_running(job)
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")
        self.tell("fail-launch", "leaf:leaf-1", "broken", "disk")
        moved = self.sleeper("moves", 1, nodes=20)
        self.cluster.wait_end(moved)
        self.tell("restore", "all")

    def test_a_slow_launch_is_waited_for(self):
        self.tell("slow-launch", "all", "2s")
        job = self.sleeper("slow", 600)
        eventually("it starts", lambda: self.cluster.job(job)["attempt_state"] == "starting")
        self.cluster.wait_running(job)
        self.tell("restore", "all")
        self.cluster.ok("stop", job)

    def test_a_fault_moves_the_job_and_is_mended_by_itself(self):
        job = self.sleeper("on-a-faulty-node", 600)
        node = self.cluster.wait_running(job)["nodes"][0]
        self.tell("fault", node, "gpu_xid", "evict", "79:", "fallen", "off", "the", "bus")
        moved = self.cluster.wait_running(job, attempt=2)
        self.assertNotIn(node, moved["nodes"])
        self.assertIn("fallen off the bus", self.cluster.ok("events", job))
        eventually("its hook has mended it", lambda: self.count("faulty") == 0, 60)

        def is_open():
            now = self.cluster.json("nodes", node)
            now = now[0] if isinstance(now, list) else now
            return now["scheduling"] == "open" and now["liveness"] == "up"

        eventually("it is validated and takes jobs again", is_open, 60)
        self.cluster.ok("stop", job)

    def test_an_array_of_1000_outlives_its_server(self):
        spec = self.cluster.spec("many", "sleep", "1", gpus=1)
        array = self.cluster.run({**spec, "array": "0-999%400"})
        self.cluster.ok("stop", f"{array}_[990-999]")
        eventually("a part is done", lambda: self.cluster.job(array)["array"]["succeeded"] > 300, 60)
        self.cluster.kill("server")
        self.cluster.start("server")
        ended = self.cluster.wait_end(array)
        self.assertEqual(ended["end_reason"], "990 of 1000 tasks succeeded, 10 stopped")
        tasks = self.cluster.json("list", "--array", array, "--finished")
        ran = [task["attempt"] for task in sorted(tasks, key=lambda task: task["array_task"]["index"])]
        self.assertEqual(ran, [1] * 990 + [0] * 10)
        self.assertEqual(self.count("ranks"), 0)

    def test_bad_commands_are_one_clear_error(self):
        result = self.cluster.hai("dev", "fleet", "--name", "fleet", "silence", "node-9999")
        self.assertEqual((result.code, result.err), (4, "hai: no node node-9999 in this fleet\n"))
        result = self.cluster.hai("dev", "kill", "--name", "fleet", "agent:node-0001")
        self.assertIn("one of a fleet", result.err)
        self.assertEqual(result.code, 1)

    def test_status_shows_the_fleet(self):
        self.assertIn("60 nodes of 8 GPUs, two-zone", self.cluster.ok("dev", "status"))
        status = self.cluster.status()
        self.assertEqual(len({node["agent_pid"] for node in status["nodes"]}), 1)
        zones = {node["zone"] for node in self.cluster.json("nodes")}
        self.assertEqual(zones, {"A", "B"})


if __name__ == "__main__":
    unittest.main()
