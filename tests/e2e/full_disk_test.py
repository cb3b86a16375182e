"""The database's disk is full in the middle of an upgrade (docs/operations/upgrade.md): `hai-server migrate` says
so and what to do, nothing is half done or lost, and it goes on once there is room."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from cluster import programs
from servers import Database

DISK = "128m"
LEFT = 256 << 10  # of it: enough for some steps of the schema, and not for all


@unittest.skipUnless(os.geteuid() == 0, "mounts a small file system: needs root")
class FullDiskTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.root.chmod(0o755)
        self.disk = self.root / "disk"
        self.disk.mkdir()
        self.mount("-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", self.disk)
        self.addCleanup(self.mount, "-l", self.disk, program="umount")
        self.database = Database(self.root, data=self.disk / "pg")
        self.database.start()
        self.addCleanup(self.database.stop)
        self.config = self.root / "server.yaml"
        (self.root / "agent.token").write_text("0" * 64)
        (self.root / "agent.token").chmod(0o600)
        self.config.write_text(
            'cluster: x\nlisten: {grpc: "127.0.0.1:1", http: "127.0.0.1:2"}\n'
            f'agent_token_file: "{self.root}/agent.token"\n'
            f'store: {{conninfo: "host={self.database.data} user=hai dbname=hai"}}\n'
        )

    def mount(self, *words, program="mount"):
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise unittest.SkipTest(f"{program}: {done.stderr}")

    def migrate(self):
        return subprocess.run([programs() / "hai-server", "--config", self.config, "migrate"],
                              capture_output=True, text=True, timeout=60)  # fmt: skip

    def sql(self, text):
        return self.database.sql(text, "hai")

    def test_a_migration_stops_clearly_and_goes_on(self):
        self.database.sql("CREATE DATABASE hai")
        self.sql("CREATE TABLE kept AS SELECT n FROM generate_series(1, 1000) n")
        self.sql("CHECKPOINT")
        filler = self.disk / "filler"
        free = os.statvfs(self.disk).f_bavail * os.statvfs(self.disk).f_frsize
        with open(filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, free - LEFT)

        refused = self.migrate()
        self.assertEqual((refused.returncode, refused.stdout), (1, ""), refused)
        self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
        self.assertIn("the disk of its machine is full, make room there", refused.stderr)
        at = re.search(r"The schema is at version (\d+) of (\d+), and nothing is half done: run it again",
                       refused.stderr)  # fmt: skip
        self.assertTrue(at, refused.stderr)
        self.assertLess(int(at[1]), int(at[2]))
        self.assertEqual(self.sql("SELECT coalesce(max(version), 0) FROM schema_migration"), at[1])
        self.assertEqual(self.sql("SELECT count(*) FROM schema_migration"), at[1])
        again = self.migrate()
        self.assertEqual(again.returncode, 1, "there is no room yet")

        filler.unlink()
        done = self.migrate()
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, rf"^schema version {at[2]}, was \d+\n$")
        self.assertEqual(self.sql("SELECT count(*), sum(n) FROM kept"), "1000|500500")
        self.assertEqual(self.migrate().stdout, f"schema version {at[2]}, was {at[2]}\n")


if __name__ == "__main__":
    unittest.main()
