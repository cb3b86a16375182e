"""A database that a newer version has migrated, below servers of this one (docs/operations/upgrade.md): the
leader goes on, whoever connects anew refuses clearly, and all is well once the schema is theirs again."""

import json
import subprocess
import unittest

from cluster import eventually, programs
from servers import Servers, ServersTest

NEWER = "999999"
REFUSED = f"the database has schema {NEWER}, this program"
REMEDY = "use a newer program"


class NewerSchemaTest(ServersTest):
    @classmethod
    def make(cls):
        return Servers(count=2, nodes=1)

    def submit(self, server, key):
        spec = self.cluster.spec(key, "/bin/true")
        spec["options"]["begin_at"] = "2099-01-01T00:00:00Z"
        headers = {"Idempotency-Key": key}
        return server.get("/api/v1/jobs", "POST", json.dumps(spec), headers, seconds=20)

    def test_a_downgrade_is_refused_and_the_leader_goes_on(self):
        sql = self.cluster.database.sql
        leader, standby = self.cluster.leader(), self.cluster.standby()
        eventually("the standby stands by", lambda: "leads" in standby.get("/readyz")[2], 30)
        first = self.submit(leader, "first")
        self.assertEqual(first[0], 201, first)
        sql(f"INSERT INTO schema_migration (version, name) VALUES ({NEWER}, 'of_a_newer_version')")
        # Its connections were there before.
        self.assertEqual(self.submit(leader, "second")[0], 201)
        # A server that is started anew says why and what to do, and ends.
        standby.kill()
        before = len(standby.log.read_text())
        standby.start()
        self.assertNotEqual(standby.process.wait(timeout=30), 0)
        said = standby.log.read_text()[before:]
        self.assertIn(REFUSED, said)
        self.assertIn(REMEDY, said)
        # `migrate` changes nothing.
        done = subprocess.run(
            [programs() / "hai-server", "--config", leader.config, "migrate"],
            capture_output=True, text=True, timeout=30,
        )  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(REMEDY, done.stderr)
        self.assertEqual(sql("SELECT max(version) FROM schema_migration"), NEWER)
        # Back: as it was, with all that was acknowledged.
        sql(f"DELETE FROM schema_migration WHERE version = {NEWER}")
        standby.start()
        leader.kill()
        eventually("the other one leads", standby.ready, 30)
        for key in ("first", "second"):
            status, _, text = self.submit(standby, key)
            self.assertEqual(status, 201)
        self.assertEqual(sql("SELECT count(*) FROM job"), "2", text)


if __name__ == "__main__":
    unittest.main()
