"""Lists of nodes in and out: every verb that takes nodes takes node-[1-3,5], and a list with a name
that does not exist changes nothing at all."""

import unittest

import cluster

LIST = "node-[1-3]"


class HostlistTest(cluster.ClusterTest):
    shape = {"nodes": 4, "name": "lists"}

    def states(self):
        return {node["name"]: node["scheduling"] for node in self.cluster.json("nodes")}

    def test_verbs_take_lists_and_answer_with_them(self):
        for verb, after in (("cordon", "cordoned"), ("drain", "drained"), ("undrain", "open")):
            with self.subTest(verb):
                out = self.cluster.ok(verb, LIST, "node-2")
                self.assertEqual(out, f"node-[1-3]: {after}\n")
                self.assertEqual(
                    [self.states()[f"node-{i}"] for i in (1, 2, 3, 4)], [after] * 3 + ["open"]
                )
        self.assertEqual(
            [item["name"] for item in self.cluster.json("cordon", LIST)],
            ["node-1", "node-2", "node-3"],
        )
        self.cluster.ok("undrain", "node-1,node-[2-3]")

    def last_change(self):
        """The newest event, but for the lists of peers that a cluster hands out as its nodes come up."""
        events = self.cluster.json("events", "-n", 100)
        return max(event["seq"] for event in events if not event["kind"].startswith("node_peers"))

    def test_a_list_with_an_unknown_name_changes_nothing(self):
        rows = [
            ("cordon", "node-[3-6]"),
            ("drain", "node-1", "node-[5-6]"),
            ("undrain", "node-[4-6]"),
            ("validate", "node-[4-6]"),
            ("validate", "--together", "node-[4-6]"),
            ("fence", "--yes", "node-[4-6]"),
            ("nodes", "node-[4-6]"),
            ("events", "--node", "node-[4-6]"),
            ("whatif", "drain", "node-[4-6]"),
            ("dev", "kill", "node:node-[4-6]"),
            ("dev", "start", "agent:node-[4-6]"),
        ]
        before = self.last_change()
        for words in rows:
            with self.subTest(words):
                result = self.cluster.hai(*words)
                self.assertEqual(result.code, 3, result)
                self.assertEqual(result.out, "")
                self.assertIn("node-[5-6]", result.err)
                self.assertEqual(result.err.count("\n"), 1, result)
        self.assertEqual(set(self.states().values()), {"open"})
        self.assertEqual(self.last_change(), before)
        for words in (("drain", "node-[1-"), ("nodes", "node-[3-1]"), ("events", "--node", "a[")):
            with self.subTest(words):
                result = self.cluster.hai(*words)
                self.assertEqual((result.code, result.err.count("\n")), (2, 1), result)
                self.assertIn("host list", result.err)

    def test_a_list_may_name_a_whole_cluster_of_full_size(self):
        result = self.cluster.hai("drain", "node-[1-12500]")
        self.assertEqual(result.code, 3, result)
        self.assertIn("node-[5-12500] do not exist: nothing was changed", result.err)
        result = self.cluster.hai("drain", "node-[1-20001]")
        self.assertEqual(result.code, 4, result)
        self.assertIn("more than 20000 names", result.err)

    def test_nodes_and_events_of_a_list(self):
        names = [node["name"] for node in self.cluster.json("nodes", "node-[2-3]", "node-3")]
        self.assertEqual(names, ["node-2", "node-3"])
        self.assertIn("node-[1-4], 32 of 32 GPUs free", self.cluster.ok("nodes", "--tree"))
        watcher = self.cluster.start_hai(
            "events", "--node", "node-[2-3]", "-w", "-n", 1, "-o", "jsonl"
        )
        job = self.cluster.exec("true", "-n", 4)
        self.cluster.wait_end(job)
        placed = [
            event["text"]
            for event in self.cluster.json("events", job, "--kind", "attempt_placed")
        ]
        self.assertEqual(placed, ["attempt 1 placed on node-[1-4]"])
        self.cluster.ok("cordon", "node-[1,3]", "--reason", "a sign")
        for line in watcher.stdout:
            if "node_scheduling_changed" in line:
                self.assertIn("node/node-3", line)
                break
        self.cluster.ok("undrain", LIST)
        events = self.cluster.json("events", "--node", "node-[2-3]", "-n", 1000)
        self.assertIn("attempt_placed", {event["kind"] for event in events})
        self.assertEqual(
            {event["subject"] for event in events if event["subject"].startswith("node/")},
            {"node/node-2", "node/node-3"},
        )

    def test_several_nodes_are_killed_and_started(self):
        self.cluster.kill("node:node-[3-4]")
        left = {node["name"]: node["agent_pid"] for node in self.cluster.status()["nodes"]}
        self.assertIsNone(left["node-3"])
        self.assertIsNone(left["node-4"])
        self.assertIsNotNone(left["node-2"])
        self.cluster.start("node:node-[3-4]")
        for name in ("node-3", "node-4"):
            self.cluster.wait_node(name)


if __name__ == "__main__":
    unittest.main()
