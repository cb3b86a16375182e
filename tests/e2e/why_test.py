"""Why a job waits, when it will start, what a change would do, and one's own order: as a user sees
them on the command line and over HTTP."""

import datetime
import json
import re
import unittest
import urllib.error
import urllib.request

import cluster
from cluster import eventually

RFC3339_UTC = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
SLEEP = "sleep 600"


class WhyTest(cluster.ClusterTest):
    shape = {"nodes": 2, "name": "why"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.http = cls.cluster.status()["http"]
        cls.cluster.ok("user", "set", "ann")
        cls.token = cls.cluster.json("token", "create", "--user", "ann")["secret"]

    def tearDown(self):
        left = [job["id"] for job in self.cluster.json("list")]
        if left:
            self.cluster.ok("stop", *left)
            self.cluster.hai("wait", *left, "--timeout", "60s", seconds=90)

    def ask(self, method, path, body=None, token=None):
        """Status and JSON of one request, as the plain user ann."""
        request = urllib.request.Request(
            self.http + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token or self.token}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30, context=self.cluster.browser()) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def fill(self, priority="high"):
        """A job on each node; gives their ids."""
        jobs = [self.cluster.exec(SLEEP, "-p", priority, "--name", f"full-{i}") for i in (1, 2)]
        for job in jobs:
            self.cluster.wait_running(job)
        return jobs

    def test_why_shows_reason_facts_and_estimate(self):
        running = self.fill()
        waiting = self.cluster.exec(SLEEP, "-n", 2, "-p", "normal", "--name", "gang")
        why = self.cluster.json("why", waiting)
        self.assertEqual(why["pending_reason"]["code"], "resources")
        self.assertEqual([fact["code"] for fact in why["facts"]], ["job", "job"])
        self.assertEqual(
            sorted(holder for fact in why["facts"] for holder in fact["holders"]),
            sorted(f"job/{job}" for job in running),
        )
        self.assertIn("at priority high, above normal", why["facts"][0]["text"])
        self.assertRegex(why["start_p50"], RFC3339_UTC)
        self.assertIn("run ahead", why["estimate_note"])
        text = self.cluster.ok("why", waiting)
        self.assertIn("It could start now but for all of these:", text)
        self.assertIn("Expected start: in ", text)
        self.assertNotIn("Expected", self.cluster.ok("why", waiting, "--no-estimate"))
        # The same over HTTP, for a user who is no admin.
        status, answer = self.ask("GET", f"/api/v1/jobs/{waiting}/why")
        self.assertEqual(status, 200)
        self.assertEqual(list(answer), list(why))
        self.assertEqual(answer["facts"], why["facts"])
        # Without the facts it starts.
        self.cluster.ok("stop", *running)
        self.cluster.wait_running(waiting)
        why = self.cluster.json("why", waiting)
        self.assertEqual((why["facts"], why["start_p50"]), ([], None))

    def test_an_estimate_is_that_of_the_queue_until_the_job_is_another(self):
        self.fill()
        waiting = self.cluster.exec(SLEEP, "-n", 2, "-p", "low", "--name", "patient")

        def foreseen():
            _, queue = self.ask("GET", "/api/v1/queue")
            entries = {entry["id"]: entry for entry in queue["entries"]}
            return entries.get(int(waiting), {}).get("start_p90") and entries[int(waiting)]

        entry = eventually("the queue has been looked ahead with it", foreseen, 60)
        why = self.ask("GET", f"/api/v1/jobs/{waiting}/why")[1]
        self.assertIn("for the whole queue", why["estimate_note"])
        starts = [datetime.datetime.fromisoformat(each["start_p50"]) for each in (why, entry)]
        self.assertLess(abs(starts[0] - starts[1]), datetime.timedelta(minutes=5))
        # What was foreseen of it counted on its old place.
        self.cluster.ok("priority", waiting, "below_normal")
        why = self.ask("GET", f"/api/v1/jobs/{waiting}/why")[1]
        self.assertNotIn("for the whole queue", why["estimate_note"])
        self.assertIn("run ahead", why["estimate_note"])

    def test_a_held_job_has_no_estimate(self):
        job = self.cluster.exec(SLEEP, "--begin-at", "2099-01-01T00:00:00Z")
        self.cluster.ok("hold", job, "--reason", "later")
        why = self.cluster.json("why", job)
        self.assertEqual([fact["code"] for fact in why["facts"]], ["held", "begin_time"])
        self.assertEqual((why["start_p50"], why["start_p90"]), (None, None))
        self.assertIn("none", why["estimate_note"])

    def test_whatif_submit_interrupts_others_and_changes_nothing(self):
        self.fill("low")
        before = self.cluster.json("events")
        spec = self.cluster.spec("big", "/bin/true", nodes=2, priority="high")
        words = ("whatif", "submit", "-")
        answer = self.cluster.json(*words, stdin=json.dumps(spec))
        effects = {each["name"]: each["effect"] for each in answer["differences"]}
        self.assertEqual(
            effects, {"full-1": "suspended", "full-2": "suspended", "big": "starts"}
        )
        self.assertEqual(answer["job"]["pending_reason"], None)
        text = self.cluster.ok(*words, stdin=json.dumps(spec))
        self.assertIn("makes room for job", text)
        self.assertIn("nothing was changed", text)
        answer = self.cluster.json(*words, "-p", "low", stdin=json.dumps(spec))
        self.assertEqual([each["effect"] for each in answer["differences"]], ["waits"])
        self.assertEqual([fact["code"] for fact in answer["job"]["facts"]], ["job", "job"])
        status, answer = self.ask("POST", "/api/v1/whatif", {"submit": spec})
        self.assertEqual((status, len(answer["differences"])), (200, 3))
        self.assertEqual(self.cluster.json("events"), before)

    def test_whatif_drain_quota_and_priority(self):
        job = self.cluster.exec(SLEEP, "--name", "moved")
        self.cluster.wait_running(job)
        node = self.cluster.job(job)["nodes"][0]
        (moved,) = self.cluster.json("whatif", "drain", node)["differences"]
        self.assertEqual((moved["effect"], moved["nodes_before"]), ("moves", [node]))
        (gone,) = self.cluster.json("whatif", "drain", "node-[1-2]")["differences"]
        self.assertEqual((gone["effect"], gone["nodes"]), ("suspended", []))
        self.assertEqual({n["scheduling"] for n in self.cluster.json("nodes")}, {"open"})

        me = self.cluster.json("whoami")["user"]
        self.cluster.ok("quota", "set", me, "2", "-p", "high")
        other = self.cluster.exec(SLEEP, "--name", "other", "-n", 2, "-p", "low")
        changed = self.cluster.json("whatif", "priority", other, "high")
        effects = {each["name"]: each["effect"] for each in changed["differences"]}
        self.assertEqual(effects, {"moved": "suspended", "other": "starts"})
        self.assertEqual(self.cluster.job(other)["priority"], "low")
        self.assertIn("priority below_normal", self.cluster.ok("priority", other, "below_normal"))
        self.assertEqual(self.cluster.job(other)["priority"], "below_normal")

        third = self.cluster.exec(SLEEP, "--name", "third", "-p", "very_high")
        self.cluster.wait_running(third)
        self.cluster.ok("quota", "set", me, "1", "-p", "very_high")
        fourth = self.cluster.exec(SLEEP, "--name", "fourth", "-p", "very_high")
        why = self.cluster.json("why", fourth)
        self.assertEqual(why["pending_reason"]["code"], "quota")
        differences = self.cluster.json("whatif", "quota", me, "*", "very_high", "2")["differences"]
        self.assertIn(("fourth", "starts"), [(d["name"], d["effect"]) for d in differences])
        self.cluster.ok("quota", "remove", me, "-p", "very_high")

    def test_what_makes_no_sense_is_one_clear_error(self):
        for words, code, said in (
            (["whatif", "drain", "node-9"], 3, "node node-9 does not exist"),
            (["whatif", "drain", "node-[1"], 2, "node-[1"),
            (["whatif", "priority", "99999", "high"], 3, "job 99999 does not exist"),
            (["whatif", "priority", "1", "urgent"], 2, "urgent"),
            (["whatif", "quota", "ann", "*", "auto", "3"], 4, "auto is no level"),
            (["whatif", "submit", "no-such-file.yaml"], 2, "no-such-file.yaml"),
            (["whatif"], 2, "needs a verb: submit, drain"),
            (["move", "1"], 2, "needs exactly one of --before, --first, --last"),
            (["why", "99999"], 3, "job 99999 does not exist"),
        ):
            result = self.cluster.hai(*words)
            self.assertEqual(result.code, code, result)
            self.assertIn(said, result.err)
            self.assertEqual(result.out, "")
        big = self.cluster.spec("big", "/bin/true", nodes=3)
        result = self.cluster.hai("whatif", "submit", "-", stdin=json.dumps(big))
        self.assertEqual(result.code, 4, result)
        self.assertIn("3 asked", result.err)
        two = {"drain": [], "quota": {}}
        for body in ({}, {"drain": "node-1"}, {"x": 1}, {"submit": {"nam": 1}}, two):
            status, answer = self.ask("POST", "/api/v1/whatif", body)
            self.assertEqual(status, 400, answer)

    def test_move_changes_who_starts_next(self):
        running = self.fill()
        a, b, c = (
            self.cluster.exec(SLEEP, "-n", 2, "-p", "high", "--name", name) for name in "abc"
        )
        said = self.cluster.ok("move", "c", "--first")
        self.assertIn("is now number 1 of the 3 jobs", said)
        self.cluster.ok("move", a, "--last")
        self.assertEqual(self.cluster.hai("move", a, "--before", running[0]).code, 4)
        # ann may look at everything, and move what is hers.
        status, answer = self.ask("POST", f"/api/v1/jobs/{c}/move", {"last": True})
        self.assertEqual((status, "belongs to" in answer["detail"]), (403, True))
        for body in ({}, {"first": False}, {"first": True, "last": True}, {"to": 1}):
            self.assertEqual(self.ask("POST", f"/api/v1/jobs/{b}/move", body)[0], 400)
        self.cluster.ok("stop", *running)
        self.cluster.wait_running(c)
        self.cluster.ok("stop", c)
        self.cluster.wait_running(b)
        self.assertEqual(self.cluster.job(a)["state"], "queued")
        kinds = [event["kind"] for event in self.cluster.json("events", c)]
        self.assertIn("job_rank_changed", kinds)


if __name__ == "__main__":
    unittest.main()
