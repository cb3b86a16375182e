"""The verbs of the command line that submit and show: what they print, in JSON word for word, and
how they end."""

import json
import re
import signal
import unittest

from cluster import ClusterTest, eventually, said

JOB_FIELDS = [
    "id",
    "name",
    "user",
    "group",
    "priority",
    "state",
    "held",
    "node_count",
    "gpus_per_node",
    "submitted_at",
    "started_at",
    "ended_at",
    "attempt",
    "pending_reason",
    "exit_code",
    "nodes",
    "suspend_count",
    "requeue_count",
    "lost_gpu_seconds",
]
NODE_FIELDS = [
    "name",
    "group",
    "zone",
    "leaf",
    "liveness",
    "scheduling",
    "reason",
    "gpus",
    "gpus_free",
    "jobs",
    "health",
    "checks",
]
EVENT_FIELDS = ["seq", "time", "actor", "kind", "subject"]
RFC3339_UTC = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
FAR_AWAY = "2099-01-01T00:00:00Z"


class SubmitTest(ClusterTest):
    shape = {"name": "submit", "nodes": 2}

    def test_run_takes_a_file_standard_input_and_options_that_win(self):
        cluster = self.cluster
        cluster.file("say.sh", '#!/bin/sh\necho "says $1 and $WORD"\n')
        spec = cluster.spec("from-file", "say.sh", "'one two'", environments={"WORD": "word"})
        path = cluster.file("job.yaml", json.dumps(spec))
        out = cluster.ok("run", path)
        self.assertRegex(out, r"^job \d+ submitted: from-file\n$")
        job = int(out.split()[1])
        self.assertEqual(cluster.wait_end(job)["name"], "from-file")
        self.assertEqual(cluster.log(job), "says one two and word\n")
        other = cluster.run(
            spec, "--name", "other", "-p", "high", "-e", "WORD=ward", "--tag", "t1", "--gpus", 2
        )
        now = cluster.wait_end(other)
        self.assertEqual(
            (now["name"], now["priority"], now["tags"], now["gpus_per_node"]),
            ("other", "high", ["t1"], 2),
        )
        self.assertEqual(cluster.log(other), "says one two and ward\n")

    def test_run_f_follows_and_ends_with_the_code_of_the_job(self):
        self.cluster.file("fails.sh", "#!/bin/sh\necho first\necho second >&2\nexit 7\n")
        result = self.cluster.hai("bash", "fails.sh", "--", "-f")
        self.assertEqual((result.code, said(result.out)), (7, "first\nsecond\n"), result)
        self.assertRegex(result.err, r"job \d+ failed: rank 0 on node-\d exited with code 7")
        self.assertEqual(self.cluster.hai("exec", "true", "--", "-f").code, 0)

    def test_python_and_bash_and_exec(self):
        cluster = self.cluster
        cluster.file(
            "args.py",
            "import sys, os\nprint(sys.argv[1:], os.getcwd(), os.environ['RANK'])\n",
            mode=0o644,
        )
        result = cluster.hai("python", "args.py", "-n", "4", "--flag", "--", "-f", "-n", "1")
        self.assertEqual(said(result.out), f"['-n', '4', '--flag'] {cluster.work} 0\n", result)
        result = cluster.hai("python", "-c", "print(6 * 7)", "--", "-f")
        self.assertEqual(said(result.out), "42\n", result)
        cluster.file("words.sh", 'for word; do echo "<$word>"; done\n', mode=0o644)
        result = cluster.hai("bash", "words.sh", "a b", "$HOME", "--", "x", "--", "-f")
        self.assertEqual(said(result.out), "<a b>\n<$HOME>\n<-->\n<x>\n", result)
        result = cluster.hai("exec", "echo", "*", "--", "-f")
        self.assertEqual(said(result.out), "*\n", result)

    def test_without_the_dashes_it_runs_here_as_in_hai(self):
        self.cluster.file(
            "here.py",
            "import os\nprint(os.environ.get('HAI_JOB_ID', 'no job'))\nraise SystemExit(3)\n",
        )
        result = self.cluster.hai("python", "here.py")
        self.assertEqual((result.code, result.out), (3, "no job\n"), result)

    def test_dry_run_prints_a_file_that_run_takes_and_submits_nothing(self):
        before = self.cluster.json("list", "--finished")
        text = self.cluster.ok(
            "exec", "echo", "from a dry run", "--", "-n", 2, "--name", "dry", "--dry-run"
        )
        self.assertEqual(self.cluster.json("list", "--finished"), before)
        job = self.cluster.json("run", "-", stdin=text)["id"]
        self.cluster.wait_end(job)
        self.assertEqual(self.cluster.log(job, "-r", 1), "from a dry run\n")

    def test_ctrl_c_in_run_f_leaves_the_job_alone(self):
        follower = self.cluster.start_hai(
            "exec", "sh", "-c", "echo begun; sleep 600", "--", "-f", "--name", "followed"
        )
        self.assertEqual(said(follower.stdout.readline()), "begun\n")
        follower.send_signal(signal.SIGINT)
        _, err = follower.communicate(timeout=10)
        self.assertEqual(follower.returncode, 130)
        self.assertRegex(
            err, r"no longer following job \d+, it goes on: `hai logs -f \d+`, `hai stop \d+`"
        )
        self.assertEqual(self.cluster.job("followed")["state"], "running")
        self.cluster.ok("stop", "followed")
        self.cluster.wait_end("followed", "stopped")

    def test_a_name_that_is_running_is_refused_until_the_job_has_ended(self):
        spec = self.cluster.spec("only-once", "/bin/sleep", "600")
        job = self.cluster.run(spec)
        result = self.cluster.hai("run", "-", stdin=json.dumps(spec))
        self.assertEqual(result.code, 4, result)
        self.assertIn(f"only-once is the name of your unfinished job {job}", result.err)
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")
        self.cluster.ok("stop", self.cluster.run(spec))


class ShowTest(ClusterTest):
    shape = {"name": "show", "nodes": 2}

    def test_the_json_of_a_job(self):
        job = self.cluster.exec("sleep 600", "-n", 2, "--name", "shown", "-p", "normal")
        self.cluster.wait_running(job)
        now = self.cluster.job(job)
        self.assertEqual(list(now)[: len(JOB_FIELDS)], JOB_FIELDS)
        listed = [item for item in self.cluster.json("list") if item["id"] == job]
        self.assertEqual(set(JOB_FIELDS) - set(listed[0]), set())
        expected = {
            "id": job,
            "name": "shown",
            "group": "training",
            "priority": "normal",
            "state": "running",
            "held": False,
            "node_count": 2,
            "gpus_per_node": 0,
            "ended_at": None,
            "attempt": 1,
            "pending_reason": None,
            "exit_code": None,
            "nodes": ["node-1", "node-2"],
            "suspend_count": 0,
            "requeue_count": 0,
            "lost_gpu_seconds": 0,
        }
        self.assertEqual({key: now[key] for key in expected}, expected)
        self.assertRegex(now["submitted_at"], RFC3339_UTC)
        self.assertRegex(now["started_at"], RFC3339_UTC)
        waiting = self.cluster.exec("true", "-n", 2, "-p", "low")
        reason = eventually("it has a reason", lambda: self.cluster.job(waiting)["pending_reason"])
        self.assertEqual(set(reason), {"code", "text"})
        why = self.cluster.json("why", waiting)
        self.assertEqual(why["pending_reason"]["code"], reason["code"])
        self.cluster.ok("stop", job)
        self.cluster.wait_end(waiting)
        ended = self.cluster.job(job)
        self.assertEqual(ended["state"], "stopped")
        self.assertRegex(ended["ended_at"], RFC3339_UTC)
        self.assertEqual(self.cluster.json("why", waiting)["pending_reason"], None)

    def test_the_json_of_nodes_events_cluster_and_me(self):
        nodes = self.cluster.json("nodes")
        self.assertEqual([node["name"] for node in nodes], ["node-1", "node-2"])
        for node in nodes:
            self.assertEqual(list(node)[:7], NODE_FIELDS[:7])
            self.assertEqual(set(NODE_FIELDS) - set(node), set())
            self.assertEqual(
                (node["group"], node["liveness"], node["scheduling"], node["gpus"]),
                ("training", "up", "open", 8),
            )
        one = self.cluster.json("nodes", "node-2")
        self.assertEqual(one["name"], "node-2")
        job = self.cluster.exec("true")
        self.cluster.wait_end(job)
        events = self.cluster.json("events", job)
        for event in events:
            self.assertEqual(list(event)[:5], EVENT_FIELDS)
            self.assertRegex(event["time"], RFC3339_UTC)
        kinds = [event["kind"] for event in events]
        self.assertEqual((kinds[0], kinds[-1]), ("job_submitted", "job_finished"))
        self.assertEqual(
            [event["seq"] for event in events], sorted({event["seq"] for event in events})
        )
        after = self.cluster.json("events", "--after", events[0]["seq"], "-n", 1)
        self.assertGreater(after[0]["seq"], events[0]["seq"])
        me = self.cluster.json("whoami")
        self.assertEqual((me["role"], me["cluster"]), ("admin", "show"))
        self.assertEqual(events[0]["actor"], me["user"])
        totals = self.cluster.json("status")
        self.assertEqual((totals["name"], totals["gpus"]["total"]), ("show", 16))

    def test_jsonl_is_one_line_for_each(self):
        lines = self.cluster.ok("nodes", "-o", "jsonl").splitlines()
        self.assertEqual([json.loads(line)["name"] for line in lines], ["node-1", "node-2"])

    def test_tables_name_what_they_show(self):
        job = self.cluster.exec("sleep 600", "-n", 2, "--name", "in-tables")
        self.cluster.wait_running(job)
        self.assertRegex(
            self.cluster.ok("list"), rf"(?m)^ *{job} +in-tables .* running .*node-\[1-2\]$"
        )
        self.assertRegex(self.cluster.ok("list", "-o", "wide"), r"GROUP +ATTEMPT")
        self.assertRegex(
            self.cluster.ok("nodes"), rf"(?m)^node-2 +training .* up +open +8 +0 +{job} "
        )
        card = self.cluster.ok("status", "in-tables")
        self.assertRegex(card, rf"job +{job} in-tables\nstate +running")
        self.assertRegex(self.cluster.ok("events", job), r"job_submitted")
        self.assertIn("is running", self.cluster.ok("why", job))
        self.assertIn("16 in all: 16 used", self.cluster.ok("status"))
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")

    def test_watching_shows_changes_as_they_happen(self):
        job = self.cluster.exec("true", "--begin-at", FAR_AWAY, "--name", "watched")
        jobs = self.cluster.start_hai("status", "-w", "-o", "jsonl", job)
        events = self.cluster.start_hai("events", "-w", "-o", "jsonl", job)
        lists = self.cluster.start_hai("list", "-w", "-o", "jsonl")
        self.assertEqual(json.loads(jobs.stdout.readline())["state"], "queued")
        self.assertEqual(json.loads(events.stdout.readline())["kind"], "job_submitted")
        self.assertEqual(json.loads(lists.stdout.readline())["name"], "watched")
        self.cluster.ok("stop", job)
        self.assertIn('"stopped"', jobs.communicate(timeout=10)[0])
        self.assertEqual(jobs.returncode, 0, "watching a job ends with it")
        self.assertEqual(json.loads(events.stdout.readline())["kind"], "job_finished")
        self.assertEqual(json.loads(lists.stdout.readline())["state"], "stopped")

    def test_exit_codes(self):
        cluster = self.cluster
        self.assertEqual(cluster.hai("list").code, 0)
        for words in (
            [],
            ["lst"],
            ["list", "--bogus"],
            ["status", "-o", "xml"],
            ["exec"],
            ["run"],
            ["run", "nowhere.yaml"],
            ["exec", "true", "--", "-n", "0"],
            ["exec", "true", "--", "-p", "urgent"],
            ["dev", "kill", "moon"],
        ):
            result = cluster.hai(*words)
            self.assertEqual(result.code, 2, result)
        for words in (
            ["status", "99999"],
            ["status", "nobody"],
            ["logs", "99999"],
            ["why", "nobody"],
            ["stop", "99999"],
            ["wait", "nobody"],
            ["nodes", "node-99"],
            ["drain", "node-99"],
            ["dev", "kill", "node:moon"],
            ["dev", "status", "--name", "no-such-cluster"],
        ):
            result = cluster.hai(*words)
            self.assertEqual(result.code, 3, result)
        job = cluster.exec("true")
        cluster.wait_end(job)
        for words in (
            ["exec", "true", "--", "-n", "3"],
            ["exec", "true", "--", "-g", "moon"],
            ["suspend", job],
            ["resume", job],
        ):
            result = cluster.hai(*words)
            self.assertEqual(result.code, 4, result)
        cluster.ok("init", "a-token", "--url", "grpc://127.0.0.1:1", "--name", "void", "--offline")
        try:
            result = cluster.hai("list")
            self.assertEqual(result.code, 5, result)
            self.assertEqual(
                result.err, "hai: cannot reach hai-server at 127.0.0.1:1: connection refused\n"
            )
        finally:
            self.use("show")
        grpc = cluster.status()["grpc"]
        result = cluster.hai("init", "wrong-token", "--url", f"https://{grpc}", "--ca", cluster.ca_file)
        self.assertEqual(result.code, 4, result)

    def use(self, name):
        """Makes a context the current one again."""
        path = self.cluster.root / "config.json"
        config = json.loads(path.read_text())
        config["current"] = name
        path.write_text(json.dumps(config))

    def test_every_error_is_one_line_on_standard_error(self):
        for words in (
            ["lst"],
            ["status", "99999"],
            ["exec", "true", "--", "-n", "3"],
            ["list", "--bogus"],
            ["drain", "node-99"],
        ):
            result = self.cluster.hai(*words)
            self.assertRegex(result.err, r"\Ahai: [^\n]+\n\Z", words)
            self.assertEqual(result.out, "", words)
        self.assertIn("did you mean list?", self.cluster.hai("lst").err)

    def test_without_a_context_it_says_what_to_do(self):
        result = self.cluster.hai("list", env={"HAI_CONFIG": self.cluster.root / "empty.json"})
        self.assertIn("hai dev up", result.err)
        self.assertNotEqual(result.code, 0)

    def test_wait_gives_the_code_of_the_job(self):
        good, bad = self.cluster.exec("true"), self.cluster.exec("exit 9")
        self.assertEqual(self.cluster.hai("wait", good).code, 0)
        self.assertEqual(self.cluster.hai("wait", good, bad).code, 9)
        killed = self.cluster.exec("kill -9 $$")
        self.assertEqual(self.cluster.hai("wait", killed).code, 137)
        long = self.cluster.exec("sleep 600")
        result = self.cluster.hai("wait", long, "--timeout", "200ms")
        self.assertEqual(result.code, 124)
        self.cluster.ok("stop", long)
        self.assertNotEqual(self.cluster.hai("wait", long).code, 0)

    def test_lists_are_filtered_and_paged(self):
        first = self.cluster.exec("true", "--tag", "mine", "--begin-at", FAR_AWAY)
        second = self.cluster.exec("true", "--tag", "mine")
        self.cluster.wait_end(second)
        ids = [job["id"] for job in self.cluster.json("list", "--tag", "mine")]
        self.assertEqual(ids, [second, first])
        self.assertEqual(
            [job["id"] for job in self.cluster.json("list", "--tag", "mine", "-s", "queued")],
            [first],
        )
        page = self.cluster.json("list", "--tag", "mine", "-p", 2, "-ps", 1)
        self.assertEqual([job["id"] for job in page], [first])
        self.cluster.ok("stop", first)


if __name__ == "__main__":
    unittest.main()
