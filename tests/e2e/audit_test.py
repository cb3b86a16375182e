"""The audit log of a real cluster: who was refused, who changed something, who read a log; and that a
row which somebody changes with all rights of the database's owner is found out."""

import subprocess
import unittest

from cluster import ClusterTest, eventually, programs
from servers import postgres_folder


class AuditTest(ClusterTest):
    shape = {"name": "audit", "nodes": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        own = cls.cluster.json("context")[0]["name"]
        cls.cluster.ok("user", "add", "bob")
        cls.token = cls.cluster.ok("token", "create", "--user", "bob").strip()
        for name, token in (("bob", cls.token), ("nobody", "hai_" + "0" * 64)):
            url = "https://" + cls.cluster.status()["grpc"]
            cls.cluster.hai("init", token, "--url", url, "--ca", cls.cluster.ca_file, "--name", name)
            cls.cluster.ok("context", "use", own)

    def audit(self, *words):
        return self.cluster.json("audit", "-n", 1000, *words)

    def entry(self, *words):
        return eventually(f"an entry: {words}", lambda: self.audit(*words))[-1]

    def sql(self, text):
        conninfo = self.cluster.status()["postgres"]
        words = [postgres_folder() / "psql", conninfo, "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text]
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)

    def verify(self):
        return subprocess.run(
            [str(programs() / "hai-server"), "--config", str(self.cluster.data / "server.yaml")]
            + ["verify", "-q"],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def test_a_stranger_is_noted_and_counted(self):
        url = "https://" + self.cluster.status()["grpc"]
        for _ in range(5):
            refused = self.cluster.hai(
                "init", "hai_" + "1" * 64, "--url", url, "--ca", self.cluster.ca_file, "--name", "x"
            )
            self.assertNotEqual(refused.code, 0, refused)
        entry = self.entry("--result", "unauthenticated")
        self.assertEqual((entry["user"], entry["token"]), ("", ""))
        self.assertEqual(entry["address"], "127.0.0.1")
        found = self.audit("--result", "unauthenticated")
        self.assertEqual(len([each for each in found if "more" not in each["text"]]), 1, found)

    def test_changes_refusals_and_reads_of_logs(self):
        cluster = self.cluster
        job = cluster.exec("echo hello; sleep 600")
        cluster.wait_running(job)
        target = f"job/{job}"
        self.assertEqual(self.entry("--call", "SubmitJob", "--target", target)["result"], "ok")
        eventually("it has said hello", lambda: "hello" in cluster.log(job))
        self.assertEqual(self.entry("--call", "ReadLog", "--target", target)["result"], "ok")
        for words in (("stop", job), ("logs", job)):
            self.assertNotEqual(cluster.hai(*words, env={"HAI_CONTEXT": "bob"}).code, 0)
        refused = self.entry("--user", "bob", "--call", "ControlJob")
        self.assertEqual(refused["result"], "permission_denied")
        self.assertTrue(refused["text"].startswith("stop; "), refused)
        tokens = cluster.json("token", "list", "--user", "bob")
        self.assertIn(refused["token"], [token["id"] for token in tokens])
        refused = self.entry("--user", "bob", "--call", "ReadLog", "--since", "5m")
        self.assertEqual((refused["result"], refused["target"]), ("permission_denied", target))
        cluster.ok("stop", job)
        cluster.wait_end(job, "stopped")
        stopped = self.entry("--call", "ControlJob", "--target", target, "--result", "ok")
        self.assertEqual((stopped["text"], stopped["address"]), ("stop", "127.0.0.1"))
        self.assertIn("permission_denied", cluster.ok("audit", "--user", "bob"))

    def test_only_admins_read_it_and_that_is_noted_too(self):
        refused = self.cluster.hai("audit", env={"HAI_CONTEXT": "bob"})
        self.assertEqual(refused.code, 4, refused)
        self.assertEqual(
            self.entry("--user", "bob", "--call", "ListAudit")["result"], "permission_denied"
        )

    def test_zz_what_is_changed_in_the_database_is_found_out(self):
        found = self.verify()
        self.assertEqual(found.returncode, 0, found)
        entry = self.entry("--call", "SetUser", "--target", "user/bob")
        seq = entry["seq"]
        change = f"UPDATE audit SET user_name = 'eve' WHERE seq = {seq}"
        refused = self.sql(change)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("only added", refused.stderr)
        forced = self.sql(f"SET session_replication_role = replica; {change}")
        self.assertEqual(forced.returncode, 0, forced)
        found = self.verify()
        self.assertEqual(found.returncode, 1, found)
        self.assertIn(f"WRONG     entry {seq} of the audit log, of {entry['at'][:10]}", found.stdout)


if __name__ == "__main__":
    unittest.main()
