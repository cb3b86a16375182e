"""Dev clusters as a whole: side by side, down without a trace, up again with everything. REST."""

import json
import pathlib
import tempfile
import shutil
import unittest
import urllib.error
import urllib.request

from cluster import Cluster, ClusterTest, eventually
from verbs_test import JOB_FIELDS, NODE_FIELDS

UP_SECONDS = 10


class LifeTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="hai-e2e-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)

    def make(self, name, **shape):
        cluster = Cluster(name=name, root=self.root, **shape)
        self.addCleanup(cluster.close)
        return cluster

    def test_two_side_by_side_know_nothing_of_each_other(self):
        one, two = self.make("one", nodes=2), self.make("two", nodes=1, gpus=4)
        one.up()
        two.up()
        ports = [cluster.status()[key] for cluster in (one, two) for key in ("grpc", "http")]
        self.assertEqual(len(set(ports)), 4, ports)
        # The last one up is the current one; the environment or an option picks the other.
        self.assertEqual(one.json("whoami")["cluster"], "two")
        self.assertEqual(one.json("whoami", env={"HAI_CONTEXT": "one"})["cluster"], "one")
        self.assertEqual(one.json("--context", "one", "whoami")["cluster"], "one")
        job = one.json("--context", "one", "exec", "sleep", "600", "--", "-n", 2)["id"]
        self.assertEqual(two.json("list"), [])
        other = two.json("exec", "sleep", "600", "--")["id"]
        self.assertEqual(two.wait_running(other)["nodes"], ["node-1"])
        two.down()
        now = eventually(
            "it runs on",
            lambda: (lambda job: job["state"] == "running" and job)(
                one.json("--context", "one", "status", job)
            ),
        )
        self.assertEqual(now["nodes"], ["node-1", "node-2"])
        one.down()
        self.assertEqual(one.processes(), {}, "dev down leaves no process")

    def test_down_and_up_again_keeps_the_jobs(self):
        cluster = self.make("again", nodes=2)
        out = cluster.up()
        self.assertRegex(out, r"cluster again is up: 2 nodes, in \d+\.\d s")
        done = cluster.exec("echo kept")
        cluster.wait_end(done)
        running = cluster.exec("sleep 600", "-n", 1)
        cluster.wait_running(running)
        waiting = cluster.exec("true", "--begin-at", "2099-01-01T00:00:00Z", "--name", "waits")
        before = cluster.status()
        cluster.down()
        self.assertEqual(cluster.processes(), {}, "dev down leaves no process")
        self.assertEqual(cluster.hai("list").code, 5)
        cluster.up()
        self.assertEqual(cluster.status()["grpc"], before["grpc"], "the address stays")
        self.assertEqual(cluster.job(done)["state"], "succeeded")
        self.assertEqual(cluster.job(waiting)["state"], "queued")
        self.assertEqual(cluster.log(done), "kept\n")
        now = cluster.wait_running(running, attempt=2, seconds=90)
        self.assertEqual((now["requeue_count"], now["suspend_count"]), (1, 0))
        result = cluster.hai("dev", "up", "--name", "again", "--data", cluster.data)
        self.assertEqual(result.code, 0, "up twice is no error")
        cluster.down("--purge")
        self.assertFalse(cluster.data.exists())
        self.assertEqual(
            cluster.hai("dev", "status", "--name", "again", "--data", cluster.data).code, 3
        )

    def test_it_is_up_within_seconds(self):
        cluster = self.make("quick")
        out = cluster.up()
        seconds = float(out.partition(", in ")[2].split()[0])
        self.assertLess(seconds, UP_SECONDS)
        self.assertEqual(
            cluster.hai("dev", "up", "--name", "quick", "--data", cluster.data, "--nodes", 2).code,
            4,
            "a running cluster keeps its shape",
        )

    def test_it_speaks_tls_unless_told_otherwise(self):
        cluster = self.make("secure", nodes=1)
        self.assertRegex(cluster.up(), r"https://127.0.0.1:\d+/#token=hai_")
        http = cluster.status()["http"]
        with urllib.request.urlopen(http + "/readyz", context=cluster.browser(), timeout=10) as page:
            self.assertEqual(page.status, 200)
        with self.assertRaises(OSError):  # nobody else's CA, no plain text
            urllib.request.urlopen(http + "/readyz", timeout=10)
        with self.assertRaises(OSError):
            urllib.request.urlopen(http.replace("https:", "http:") + "/readyz", timeout=10)
        self.assertIn("by the CA that was given", cluster.ok("context", "show"))
        key = cluster.data / "ca" / "ca.key"
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        result = cluster.hai("dev", "up", "--insecure", "--name", "secure", "--data", cluster.data)
        self.assertEqual(result.code, 4, result)
        self.assertIn("cluster secure runs with TLS", result.err)

    def test_it_keeps_its_ca_and_new_nodes_get_certificates(self):
        cluster = self.make("grows", nodes=1)
        cluster.up()
        ca = (cluster.data / "ca" / "ca.crt").read_text()
        cluster.down()
        cluster.nodes = 2
        cluster.up()
        self.assertEqual((cluster.data / "ca" / "ca.crt").read_text(), ca)
        self.assertTrue((cluster.data / "ca" / "node-2.crt").exists())
        cluster.wait_end(cluster.exec("true", "-n", 2))

    def test_one_of_a_version_without_tls_goes_on_as_it_was(self):
        cluster = self.make("older", nodes=1)
        cluster.up("--insecure")
        job = cluster.exec("echo kept")
        cluster.wait_end(job)
        cluster.down()
        path = cluster.data / "cluster.json"
        state = json.loads(path.read_text())
        self.assertIs(state.pop("tls"), False)  # what that version did not write
        path.write_text(json.dumps(state))
        self.assertRegex(cluster.up(), r" http://127.0.0.1:\d+/#token=hai_")
        self.assertEqual(cluster.log(job), "kept\n")
        self.assertFalse((cluster.data / "ca").exists())


class RestTest(ClusterTest):
    shape = {"name": "rest", "nodes": 2}

    def request(self, path, method="GET", body=None, token=True, headers=None):
        """(status, content type, body as text)"""
        http = self.cluster.status()["http"]
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            http + path, data=data, method=method, headers=dict(headers or {})
        )
        if token:
            request.add_header(
                "Authorization", "Bearer " + (self.cluster.data / "admin.token").read_text().strip()
            )
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=20, context=self.cluster.browser()) as reply:
                return reply.status, reply.headers.get_content_type(), reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get_content_type(), error.read().decode()

    def get(self, path):
        status, kind, text = self.request(path)
        self.assertEqual((status, kind), (200, "application/json"), text)
        return json.loads(text)

    def listed(self, path):
        """The items of a page, however the page wraps them."""
        page = self.get(path)
        return (
            page
            if isinstance(page, list)
            else next(value for value in page.values() if isinstance(value, list))
        )

    def problem(self, expected, path, method="GET", body=None, **options):
        status, kind, text = self.request(path, method, body, **options)
        self.assertEqual((status, kind), (expected, "application/problem+json"), text)
        return json.loads(text)

    def test_probes_and_metrics_need_no_token(self):
        self.assertEqual(self.request("/livez", token=False)[0], 200)
        self.assertEqual(self.request("/readyz", token=False)[0], 200)
        status, _, text = self.request("/metrics", token=False)
        self.assertEqual(status, 200)
        self.assertRegex(text, r"(?m)^# TYPE hai_\w+ (counter|gauge|histogram|summary)$")
        self.assertEqual(self.request("/", token=False)[0], 200)

    def test_what_is_shown(self):
        nodes = self.listed("/api/v1/nodes")
        self.assertEqual([node["name"] for node in nodes], ["node-1", "node-2"])
        for node in nodes:
            self.assertEqual(set(NODE_FIELDS) - set(node), set())
        self.assertEqual(self.get("/api/v1/nodes/node-1")["name"], "node-1")
        self.assertIn("gpus", self.get("/api/v1/cluster"))

    def submit(self, name, script, headers=None, **more):
        spec = self.cluster.spec(name, "/bin/sh", f"-c '{script}'", **more)
        status, kind, text = self.request("/api/v1/jobs", "POST", spec, headers=headers)
        self.assertIn(status, (200, 201), text)
        self.assertEqual(kind, "application/json")
        return json.loads(text)["id"]

    def test_the_life_of_a_job(self):
        job = self.submit("by-rest", "echo hello from REST; sleep 600")
        self.cluster.wait_running(job)
        now = self.get(f"/api/v1/jobs/{job}")
        self.assertEqual(set(JOB_FIELDS) - set(now), set())
        shown = self.cluster.job(job)
        same = [name for name in JOB_FIELDS if name not in ("lost_gpu_seconds",)]
        self.assertEqual({name: now[name] for name in same}, {name: shown[name] for name in same})
        self.assertIn(job, [item["id"] for item in self.listed("/api/v1/jobs?state=running")])
        self.assertEqual(self.get(f"/api/v1/jobs/{job}/why")["state"], "running")
        self.assertTrue(self.listed(f"/api/v1/jobs/{job}/attempts"))
        self.assertTrue(self.listed(f"/api/v1/jobs/{job}/events"))
        status, _, text = self.request(f"/api/v1/jobs/{job}/logs")
        self.assertEqual(status, 200)
        self.assertIn("hello from REST", text)
        status, _, text = self.request(f"/api/v1/jobs/{job}/stop", "POST", {})
        self.assertIn(status, (200, 202, 204), text)
        self.cluster.wait_end(job, "stopped")

    def test_the_same_key_twice_is_one_job(self):
        headers = {"Idempotency-Key": "the-same"}
        first = self.submit("keyed", "true", headers=headers)
        self.assertEqual(self.submit("keyed", "true", headers=headers), first)
        self.cluster.wait_end(first)

    def test_problems(self):
        before = self.cluster.json("list", "--finished")
        self.problem(404, "/api/v1/jobs/99999")
        self.problem(404, "/api/v1/nodes/moon")
        self.problem(404, "/api/v1/no-such-thing")
        self.problem(401, "/api/v1/jobs", token=False)
        self.problem(401, "/api/v1/jobs", token=False, headers={"Authorization": "Bearer wrong"})
        self.problem(405, "/api/v1/jobs/1", "DELETE")
        spec = self.cluster.spec("bad", "/bin/true", nodes=99)
        text = json.dumps(self.problem(400, "/api/v1/jobs", "POST", spec))
        self.assertIn("node_count", text)
        spec = self.cluster.spec("bad", "/bin/true")
        spec["resource"]["nodes"] = 1
        self.assertIn("resource.nodes", json.dumps(self.problem(400, "/api/v1/jobs", "POST", spec)))
        for body in ([], "x", 1, None, {}, {"spec": []}):
            status, _, text = self.request("/api/v1/jobs", "POST", body)
            self.assertIn(status, (400, 415, 422), (body, text))
        self.assertEqual(self.cluster.json("list", "--finished"), before)

    def test_events_are_pushed_and_resumed(self):
        job = self.submit("streamed", "true")
        self.cluster.wait_end(job)
        http = self.cluster.status()["http"]
        token = (self.cluster.data / "admin.token").read_text().strip()
        request = urllib.request.Request(
            http + "/api/v1/events?after=0",
            headers={"Authorization": "Bearer " + token, "Accept": "text/event-stream"},
        )
        kinds = []
        with urllib.request.urlopen(request, timeout=20, context=self.cluster.browser()) as stream:
            self.assertEqual(stream.headers.get_content_type(), "text/event-stream")
            for line in stream:
                if line.startswith(b"data:"):
                    event = json.loads(line[5:])
                    if event["subject"] in (str(job), f"job/{job}", f"job {job}", f"job:{job}"):
                        kinds.append(event["kind"])
                        if event["kind"] == "job_finished":
                            break
        self.assertEqual((kinds[0], kinds[-1]), ("job_submitted", "job_finished"))


if __name__ == "__main__":
    unittest.main()
