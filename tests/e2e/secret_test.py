"""A secret reaches the ranks of its owner's jobs and is found nowhere else: in no file that others
may read, no dump of the database, no answer, no log and no other process."""

import glob
import base64
import hashlib
import json
import os
import pathlib
import re
import stat
import subprocess
import unittest

from cluster import ClusterTest, eventually

VALUE = "correct-horse-battery-staple-7391"
OTHERS = "of-somebody-else-4417"
DIGEST = hashlib.sha256(VALUE.encode()).hexdigest()
SCRIPT = """printf %s "$KEY" | sha256sum | cut -d' ' -f1
test -e "$1" || { echo runs; while ! test -e "$1"; do sleep 0.1; done; }
"""


def program_of_postgres(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return found[-1] if found else name


class SecretTest(ClusterTest):
    shape = {"nodes": 1}

    def keep(self, name, value, **options):
        return self.cluster.hai("secret", "set", name, stdin=value + "\n", **options)

    def spec(self, name, go_on, secrets):
        cluster = self.cluster
        cluster.file("rank.sh", SCRIPT)
        spec = cluster.spec(name, "rank.sh", str(go_on))
        spec["spec"]["secrets"] = secrets
        return spec

    def files_with(self, value):
        """Those below the cluster's folder that hold the value."""
        found = []
        for folder, _, names in os.walk(self.cluster.root):
            for name in names:
                path = pathlib.Path(folder) / name
                try:
                    if stat.S_ISREG(path.lstat().st_mode) and value.encode() in path.read_bytes():
                        found.append(path)
                except OSError:
                    continue  # it has just gone
        return found

    def dump(self):
        config = (self.cluster.data / "server.yaml").read_text()
        conninfo = json.loads(re.search(r"conninfo: (\".*\")", config).group(1))
        done = subprocess.run(
            [program_of_postgres("pg_dump"), conninfo], capture_output=True, check=True, timeout=60
        )
        return done.stdout.decode(errors="replace")

    def answers(self, job):
        words = [
            ("status", job, "-o", "json"), ("describe", job), ("list", "-a", "-o", "json"),
            ("events", "-n", "1000", "-o", "json"), ("secret", "list", "-o", "json"), ("logs", job),
            ("whoami", "-o", "json"), ("nodes", "-o", "json"),
        ]
        return "".join(self.cluster.ok(*each) for each in words)

    def test_reaches_the_rank_and_nothing_else(self):
        cluster = self.cluster
        self.assertEqual(self.keep("key", VALUE).code, 0)
        go_on = cluster.work / "go_on"
        spec = self.spec("uses", go_on, {"KEY": "key"})
        job = cluster.run(spec)
        cluster.wait_running(job)
        eventually("the rank has its secret", lambda: "runs" in cluster.log(job))
        self.assertIn(DIGEST, cluster.log(job))
        # While it runs it is where its shim finds it, and there nobody else can look.
        holders = self.files_with(VALUE)
        self.assertEqual([path.name for path in holders], ["launch.json"])
        self.assertEqual(holders[0].stat().st_mode & 0o077, 0, holders[0])
        looked_at = set()
        for pid, command in cluster.processes().items():
            self.assertNotIn(VALUE, command)
            of = [word for word in ("hai-agent", "hai-shim", "hai-server", "postgres") if word in command]
            if of:
                looked_at.update(of)
                environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                self.assertNotIn(VALUE.encode(), environ, command)
        self.assertGreaterEqual(looked_at, {"hai-agent", "hai-shim", "hai-server"})
        self.assertNotIn(VALUE, self.answers(job))
        dump = self.dump()
        self.assertIn("secret_set", dump)
        for form in (VALUE, VALUE.encode().hex(), base64.b64encode(VALUE.encode()).decode().rstrip("=")):
            self.assertNotIn(form, dump)
        go_on.touch()
        cluster.wait_end(job)
        eventually("no file holds the value", lambda: not self.files_with(VALUE))
        self.assertNotIn(VALUE, self.answers(job))

    def test_is_of_its_owner(self):
        cluster = self.cluster
        bob = self.cluster.as_user("bob")
        self.assertEqual(self.keep("key", VALUE).code, 0)
        go_on = cluster.work / "go_on_bob"
        go_on.touch()
        spec = json.dumps(self.spec("bobs", go_on, {"KEY": "key"}))
        refused = cluster.hai("run", "-", stdin=spec, env=bob)
        self.assertNotEqual(refused.code, 0)
        self.assertIn("bob has no secret named key", refused.err)
        self.assertEqual(self.keep("key", OTHERS, env=bob).code, 0)
        job = cluster.json("run", "-", stdin=spec, env=bob)["id"]
        cluster.wait_end(job)
        self.assertIn(hashlib.sha256(OTHERS.encode()).hexdigest(), cluster.log(job))
        self.assertNotEqual(cluster.hai("secret", "list", "--user", cluster.json("whoami")["user"],
                                        env=bob).code, 0)

    def test_one_that_is_gone_ends_the_job_with_the_reason(self):
        cluster = self.cluster
        self.assertEqual(self.keep("brief", VALUE).code, 0)
        blocker = cluster.exec("sleep 600")
        cluster.wait_running(blocker)
        job = cluster.run(self.spec("left", cluster.work / "never", {"KEY": "brief"}))
        cluster.ok("secret", "delete", "brief")
        cluster.ok("stop", blocker)
        ended = cluster.wait_end(job, "failed")
        self.assertIn("the secret brief of", ended["end_reason"])
        self.assertIn("hai secret set brief", ended["end_reason"])
        node = cluster.node("node-1")
        self.assertEqual((node["liveness"], node["scheduling"]), ("up", "open"))
        self.assertEqual(node["lemon_score"], 0)

    def test_stays_over_a_restart_of_the_server(self):
        cluster = self.cluster
        self.assertEqual(self.keep("lasting", VALUE).code, 0)
        cluster.kill("server")
        cluster.start("server")
        go_on = cluster.work / "go_on_lasting"
        go_on.touch()
        job = cluster.run(self.spec("after", go_on, {"KEY": "lasting"}))
        cluster.wait_end(job)
        self.assertIn(DIGEST, cluster.log(job))

    def test_command_line_says_what_is_wrong(self):
        cluster = self.cluster
        refused = cluster.hai("secret", "set", "key", VALUE)
        self.assertEqual(refused.code, 2, "a value is no argument")
        empty = cluster.hai("secret", "set", "key", stdin="")
        self.assertIn("there is no value", empty.err)
        bad = cluster.hai("exec", "true", "--", "--secret", "nonsense")
        self.assertIn("VARIABLE=NAME", bad.err)
        self.assertIn("spec.secrets", cluster.ok("secret", "--help"))


if __name__ == "__main__":
    unittest.main()
