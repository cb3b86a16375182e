"""`hai describe`: everything about a job, a node and an incident on one page, for people and programs."""

import unittest

from cluster import ClusterTest, eventually


class DescribeTest(ClusterTest):
    shape = {"name": "describe", "nodes": 2}

    def tearDown(self):
        left = [job["id"] for job in self.cluster.json("list", "-s", "queued,running,suspended")]
        if left:
            self.cluster.ok("stop", *left)
            self.cluster.hai("wait", *left, "--timeout", "60s")

    def test_a_job_that_runs(self):
        job = self.cluster.exec("sleep 600", "-n", "2", "--name", "pair")
        self.cluster.wait_running(job)
        page = self.cluster.json("describe", "pair")
        self.assertEqual((page["kind"], page["job"]["id"], page["why"]), ("job", job, None))
        self.assertEqual([rank["rank"] for rank in page["attempts"][0]["ranks"]], [0, 1])
        self.assertEqual({node["name"] for node in page["nodes"]}, {"node-1", "node-2"})
        self.assertIn("attempt_running", [event["kind"] for event in page["events"]])
        # The spec is a job file again.
        self.assertEqual(self.cluster.ok("run", "-", "--dry-run", stdin=page["spec_yaml"]), page["spec_yaml"])
        text = self.cluster.ok("describe", "pair")
        for part in ("RANKS OF ATTEMPT 1", "LAST EVENTS", "SPEC", "node-2", "up open"):
            self.assertIn(part, text)
        self.assertNotIn("WHY IT WAITS", text)

    def test_a_job_that_failed_says_why_each_attempt_ended(self):
        job = self.cluster.exec("exit 7", "--name", "broken")
        self.cluster.wait_end(job, "failed")
        text = self.cluster.ok("describe", job)
        self.assertIn("WHY ATTEMPTS ENDED", text)
        self.assertRegex(text, r"attempt 1 failed: .*7")

    def test_a_job_that_waits_says_why(self):
        self.cluster.exec("true", "--name", "later", "--begin-at", "2099-01-01T00:00:00Z")
        page = self.cluster.json("describe", "later")
        self.assertEqual(page["why"]["facts"][0]["code"], "begin_time")
        text = self.cluster.ok("describe", "later")
        self.assertIn("WHY IT WAITS", text)
        self.assertNotIn("RANKS", text)

    def test_a_node_with_its_jobs_now_and_before(self):
        before = self.cluster.exec("true", "-n", "2", "--name", "before")
        self.cluster.wait_end(before)
        now = self.cluster.exec("sleep 600", "-n", "2", "--name", "now")
        self.cluster.wait_running(now)
        page = self.cluster.json("describe", "node-1")
        self.assertEqual((page["kind"], page["node"]["name"]), ("node", "node-1"))
        self.assertEqual([job["id"] for job in page["jobs"]], [now])
        self.assertEqual(page["jobs_before"][0]["id"], before)
        self.assertTrue(page["events"])
        text = self.cluster.ok("describe", "node/node-1")
        for part in ("JOBS NOW", "JOBS BEFORE", "LAST EVENTS", "CHECK"):
            self.assertIn(part, text)

    def test_a_name_of_both_is_the_job_unless_its_kind_is_said(self):
        self.cluster.exec("true", "--name", "node-2", "--begin-at", "2099-01-01T00:00:00Z")
        self.assertEqual(self.cluster.json("describe", "node-2")["kind"], "job")
        self.assertEqual(self.cluster.json("describe", "node", "node-2")["kind"], "node")
        both = self.cluster.json("describe", "node/node-2", "job/node-2")
        self.assertEqual([page["kind"] for page in both], ["node", "job"])

    def test_what_is_not_there_spoils_nothing_else(self):
        job = self.cluster.exec("true", "--name", "there")
        result = self.cluster.hai("describe", "not-there", "there")
        self.assertEqual(result.code, 3)
        self.assertIn("there is no job and no node not-there", result.err)
        self.assertIn(f"{job} there", result.out)


class IncidentTest(ClusterTest):
    # Both nodes of one leaf silent at once are one incident.
    shape = {"name": "incident", "nodes": 2}
    up_options = ("--knob", "heartbeat=1s", "--knob", "agent_lease=5s", "--knob", "down_after=11s")

    def test_an_incident_with_its_story_and_nodes(self):
        self.cluster.kill("agent:node-1", "agent:node-2")
        found = eventually("an incident", lambda: self.cluster.json("incidents"), 60)
        page = self.cluster.json("describe", f"incident/{found[0]['id']}")
        self.assertEqual((page["kind"], page["incident"]["id"]), ("incident", found[0]["id"]))
        self.assertEqual({node["name"] for node in page["nodes"]}, {"node-1", "node-2"})
        text = self.cluster.ok("describe", "incident", found[0]["id"])
        self.assertIn("open since", text)
        self.assertIn("node-2", text)
        named = self.cluster.ok("__complete", "describe", "incident", "")
        self.assertIn(f"{found[0]['id']}\t", named)


if __name__ == "__main__":
    unittest.main()
