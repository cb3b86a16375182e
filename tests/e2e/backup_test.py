"""hai-backup on a real cluster: dumps while it runs, keeps so many, and puts one back. What the dump
does not know is gone; what runs goes on, and the servers notice that the store went back."""

import os
import subprocess
import unittest

from cluster import REPOSITORY, ClusterTest, eventually

PROGRAM = REPOSITORY / "deploy" / "hai-backup"


class BackupTest(ClusterTest):
    shape = {"name": "backup", "nodes": 2}

    @classmethod
    def setUpClass(cls):
        if subprocess.run(["/usr/bin/python3", "-c", "import yaml"], check=False).returncode != 0:
            raise unittest.SkipTest("python3-yaml is not installed")
        super().setUpClass()
        cls.dumps = cls.cluster.root / "dumps"

    def backup(self, *words, code=0):
        done = subprocess.run(
            [PROGRAM, "--config", self.cluster.data / "server.yaml", "--dir", self.dumps]
            + [str(word) for word in words],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "HAI_BACKUP_KEEP": "3"},
        )
        self.assertEqual(done.returncode, code, done)
        return done.stdout if code == 0 else done.stderr

    def leading(self):
        eventually("the server leads", lambda: self.cluster.hai("list").code == 0)

    def test_a_dump_comes_back_under_running_jobs(self):
        cluster = self.cluster
        runs = cluster.exec("sleep 1000")
        cluster.wait_running(runs)
        dump = self.backup("create").splitlines()[0]
        self.assertEqual(os.stat(dump).st_mode & 0o077, 0)
        self.assertIn(dump, self.backup("list"))
        forgotten = cluster.exec("exit 0")
        cluster.wait_end(forgotten)

        said = self.backup("restore", dump, "--replace", code=1)
        self.assertIn("stop all of them first", said)
        self.kill_server(dump)
        self.assertIn("restored", self.backup("restore", dump, "--replace"))
        cluster.start("server")
        self.leading()

        self.assertEqual(cluster.hai("status", forgotten).code, 4)
        open_incidents = eventually("incident", lambda: cluster.json("incidents"))
        self.assertEqual([it["kind"] for it in open_incidents], ["store_went_back"])
        job = cluster.job(runs)
        self.assertEqual((job["state"], job["attempt"]), ("running", 1))

        # And again, onto what the first one has restored.
        self.kill_server(dump)
        self.assertIn("restored", self.backup("restore", dump, "--replace"))
        cluster.start("server")
        self.leading()
        self.assertEqual(cluster.job(runs)["attempt"], 1)

    def kill_server(self, dump):
        """Gone is it only when its sessions are."""
        self.cluster.kill("server")
        refused = lambda: self.backup("restore", dump, code=1)
        eventually("its sessions end", lambda: "--replace gives up" in refused())

    def test_the_newest_are_kept(self):
        made = [self.backup("create").splitlines()[0] for _ in range(5)]
        kept = [line.split()[-1] for line in self.backup("list").splitlines()]
        self.assertEqual(kept, made[-3:])
        (self.dumps / "hai-20000101T000000.000000Z.partial").write_text("of one that was killed")
        self.backup("create")
        self.assertEqual(list(self.dumps.glob("*.partial")), [])

    def test_what_is_wrong_changes_nothing(self):
        self.backup("create")
        kept = self.backup("list")
        broken = self.cluster.root / "broken.dump"
        broken.write_bytes(b"PGDMP" + bytes(1000))
        self.assertIn("pg_restore", self.backup("restore", broken, "--replace", code=1))
        self.assertIn("no file", self.backup("restore", self.dumps / "none", code=1))
        config = self.cluster.root / "nowhere.yaml"
        config.write_text("store: {conninfo: host=/nonexistent dbname=hai}\n")
        self.assertIn("/nonexistent", self.backup("--config", config, "create", code=1))
        config.write_text("store: [\n")
        self.assertIn("no store.conninfo", self.backup("--config", config, "create", code=1))
        self.backup("create", "--keep", "0", code=2)
        self.assertEqual(self.backup("list"), kept)
        self.leading()


if __name__ == "__main__":
    unittest.main()
