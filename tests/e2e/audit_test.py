"""The audit log of a real cluster: who was refused, who changed something, who read a log; and that a
row which somebody changes with all rights of the database's owner is found out, also in the archive."""

import gzip
import subprocess
import unittest

from cluster import ClusterTest, eventually, programs
from servers import postgres_folder

# Moves all entries two hours back, with the chain made anew: what is an hour old can be archived.
TWO_HOURS_LATER = """
SET session_replication_role = replica;
DO $$
DECLARE
  entry record; field text; text text; hash_before text := ''; moved timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(68656973, 6175646);
  FOR entry IN SELECT * FROM audit ORDER BY seq LOOP
    moved := entry.at - interval '2 hours';
    text := '';
    FOREACH field IN ARRAY ARRAY[hash_before, entry.seq::text,
        (extract(epoch FROM moved) * 1000000)::bigint::text, entry.user_name, entry.token,
        entry.address, entry.call, entry.target, entry.result, entry.detail] LOOP
      text := text || octet_length(field) || ':' || field || ',';
    END LOOP;
    hash_before := encode(sha256(convert_to(text, 'UTF8')), 'hex');
    UPDATE audit SET at = moved, hash = hash_before WHERE seq = entry.seq;
  END LOOP;
END $$
"""


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

    def server(self, *words):
        return subprocess.run(
            [str(programs() / "hai-server"), "--config", str(self.cluster.data / "server.yaml")]
            + [str(word) for word in words],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def verify(self, *words):
        return self.server("verify", "-q", *words)

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
        table = cluster.ok("audit", "--user", "bob")
        self.assertIn("permission_denied", table)
        self.assertIn(refused["token"], table)

    def test_only_admins_read_it_and_that_is_noted_too(self):
        refused = self.cluster.hai("audit", env={"HAI_CONTEXT": "bob"})
        self.assertEqual(refused.code, 4, refused)
        self.assertEqual(
            self.entry("--user", "bob", "--call", "ListAudit")["result"], "permission_denied"
        )

    def test_zy_old_entries_go_into_the_archive(self):
        folder = self.cluster.root / "archive"
        folder.mkdir()
        words = ("archive", "-q", "--audit-older-than", "1h", "--dir", folder)
        found = self.server(*words)
        self.assertEqual(found.returncode, 0, found)
        self.assertEqual(found.stdout, "nothing of the audit log is older than 1h\n")
        self.entry("--call", "SetUser", "--target", "user/bob")
        moved = self.sql(TWO_HOURS_LATER)
        self.assertEqual(moved.returncode, 0, moved)
        self.cluster.ok("user", "add", "carol")
        self.entry("--call", "SetUser", "--target", "user/carol")
        archived = self.server(*words)
        self.assertEqual(archived.returncode, 0, archived)
        self.assertRegex(archived.stdout, r"^entries 1 to \d+ of the audit log are in 1 files in ")
        last = int(archived.stdout.split()[3])
        (name,) = folder.iterdir()
        self.assertEqual(name.name, f"hai-{self.cluster.name}-{1:012}-{last:012}-audit.jsonl.gz")
        told = self.cluster.hai("audit", "--user", "bob", "--result", "permission_denied")
        self.assertEqual(told.code, 0, told)
        self.assertIn(f"entries 1 to {last} of the audit log, up to 20", told.err)
        self.assertNotIn("archived", self.cluster.hai("audit", "--since", "10m").err)
        part = self.verify()
        self.assertEqual(part.returncode, 1, part)
        self.assertIn(f"UNREAD    entries 1 to {last} of the audit log are archived", part.stdout)
        self.assertNotIn("ok  ", part.stdout)
        self.entry("--call", "archive", "--target", f"archive/{name.name}")
        whole = self.verify("--archive", folder)
        self.assertEqual(whole.returncode, 0, whole)
        self.assertIn(f" entries, {last} of them archived\n", whole.stdout)
        written = name.read_bytes()
        lines = gzip.decompress(written).decode().splitlines()
        self.assertEqual(len(lines), last)
        lines[0] = lines[0].replace('"user":"', '"user":"eve')
        name.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
        found = self.verify("--archive", folder)
        self.assertEqual(found.returncode, 1, found)
        self.assertIn("its SHA-256 is", found.stdout)
        self.assertIn("entry 1 of the audit log", found.stdout)
        name.write_bytes(written)

    def test_zz_what_is_changed_in_the_database_is_found_out(self):
        folder = self.cluster.root / "archive"
        folder.mkdir(exist_ok=True)
        found = self.verify("--archive", folder)
        self.assertEqual(found.returncode, 0, found)
        entry = self.audit()[-1]
        seq = entry["seq"]
        change = f"UPDATE audit SET user_name = 'eve' WHERE seq = {seq}"
        refused = self.sql(change)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("only added", refused.stderr)
        forced = self.sql(f"SET session_replication_role = replica; {change}")
        self.assertEqual(forced.returncode, 0, forced)
        found = self.verify("--archive", folder)
        self.assertEqual(found.returncode, 1, found)
        self.assertIn(f"WRONG     entry {seq} of the audit log, of {entry['at'][:10]}", found.stdout)


if __name__ == "__main__":
    unittest.main()
