"""Who becomes administrator by a server's config and machine (docs/security.md): the config makes one in a
database without users only; `hai-server rescue` makes one where nobody is any more, with all servers stopped."""

import hashlib
import json
import os
import pwd
import subprocess
import unittest

from cluster import eventually, programs
from servers import TOKEN, Servers, ServersTest

OTHER_TOKEN = "hai_" + "c3" * 32


class RescueTest(ServersTest):
    @classmethod
    def make(cls):
        return Servers(count=1, nodes=0)

    def whoami(self, token):
        """(status, user's name and role) of who has this token."""
        server = self.cluster.servers[0]
        status, _, text = server.get("/api/v1/whoami", headers={"Authorization": f"Bearer {token}"})
        return status, json.loads(text) if status == 200 else text

    def restart(self, server, text=None):
        if server.process.poll() is None:
            server.kill()
        if text is not None:
            server.config.write_text(text)
        server.start()
        eventually("it leads again", server.ready, 30)

    def rescue(self, server, name):
        return subprocess.run(
            [programs() / "hai-server", "--config", server.config, "rescue", name],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def audited(self, token, call="rescue"):
        """Entries of the audit log about this call, oldest first."""
        status, _, text = self.cluster.servers[0].get(
            f"/api/v1/audit?call={call}", headers={"Authorization": f"Bearer {token}"}
        )
        self.assertEqual(status, 200, text)
        return json.loads(text)["entries"][::-1]

    def verify(self, server):
        words = [programs() / "hai-server", "--config", server.config, "verify", "-q"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done)

    def test_who_can_write_the_config_comes_in_only_by_the_database(self):
        cluster, server = self.cluster, self.cluster.servers[0]
        text = server.config.read_text()
        status, who = self.whoami(TOKEN)
        self.assertEqual((status, who["user"]), (200, "root"), who)
        users = cluster.database.sql("SELECT count(*) FROM app_user")
        # Another name and a token that its writer knows.
        other = cluster.root / "other.token"
        other.write_text(OTHER_TOKEN)
        other.chmod(0o600)
        attack = text.replace("admin_user: root", "admin_user: mallory")
        self.restart(server, attack.replace("/admin.token", "/other.token"))
        self.assertEqual(self.whoami(OTHER_TOKEN)[0], 401)
        self.assertEqual(cluster.database.sql("SELECT count(*) FROM app_user"), users)
        # Beside a server that leads nobody is made.
        said = self.rescue(server, "mallory")
        self.assertEqual(said.returncode, 1, said)
        self.assertEqual(said.stdout, "")
        self.assertIn("stop hai-server on all its machines first", said.stderr)
        self.assertEqual(cluster.database.sql("SELECT count(*) FROM app_user"), users)
        # The audit log that the leader goes on writing has it, too.
        refused = self.audited(TOKEN)[-1]
        self.assertEqual(
            [refused[key] for key in ("user", "address", "target", "result")],
            ["", "local", "user/mallory", "failed_precondition"],
        )
        self.assertIn("stop hai-server on all its machines first", refused["text"])
        eventually(
            "its next entry",
            lambda: any(e["seq"] > refused["seq"] for e in self.audited(TOKEN, "ListAudit")),
        )
        self.verify(server)
        # The way back in, for who has the database.
        server.kill()
        said = self.rescue(server, "no name")
        self.assertEqual((said.returncode, said.stdout), (2, ""), said)
        self.assertIn("user name: must be", said.stderr)
        said = self.rescue(server, "zoe")
        self.assertEqual(said.returncode, 0, said)
        self.restart(server)
        status, who = self.whoami(said.stdout.strip())
        self.assertEqual((status, who["user"], who["role"]), (200, "zoe", "admin"), who)
        self.assertEqual(self.whoami(TOKEN)[0], 200, "who was there stays")
        entries = self.audited(said.stdout.strip())
        self.assertEqual(
            [entry["result"] for entry in entries], ["failed_precondition", "invalid_argument", "ok"]
        )
        made = entries[-1]
        token = hashlib.sha256(said.stdout.strip().encode()).hexdigest()[:12]
        self.assertEqual(made["target"], f"user/zoe, token/{token}")
        runner = pwd.getpwuid(os.geteuid()).pw_name
        self.assertEqual(made["text"], f"administrator; run by the Unix user {runner}")
        self.verify(server)


if __name__ == "__main__":
    unittest.main()
