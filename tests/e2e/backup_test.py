"""hai-backup on a real cluster: dumps while it runs, keeps so many, and puts one back. What the dump
does not know is gone; what runs goes on, and the servers notice that the store went back."""

import os
import subprocess
import unittest

from cluster import ClusterTest, eventually
from restore_test import PROGRAM, call
from servers import postgres_folder


class BackupTest(ClusterTest):
    shape = {"name": "backup", "nodes": 2}
    # However long the server is away on a busy machine: ranks run on, and the incident stays open.
    up_options = ("--knob", "agent_lease=20m", "--knob", "down_after=30m")

    @classmethod
    def setUpClass(cls):
        if subprocess.run(["/usr/bin/python3", "-c", "import yaml"], check=False).returncode != 0:
            raise unittest.SkipTest("python3-yaml is not installed")
        super().setUpClass()
        cls.dumps = cls.cluster.root / "dumps"
        cls.settings = cls.cluster.root / "settings"
        cls.settings.write_text(f"HAI_BACKUP_DIR={cls.dumps}\nHAI_BACKUP_KEEP=3\n")

    def backup(self, *words, code=0, settings=None, env=None):
        """With the settings of a file, not those of the machine."""
        options = ["--config", self.cluster.data / "server.yaml", "--settings", settings or self.settings]
        done = call(PROGRAM, *options, *words, env=env)
        self.assertEqual(done.returncode, code, done)
        return done.stdout if code == 0 else done.stderr

    def leading(self):
        eventually("the server leads", lambda: self.cluster.hai("list").code == 0, 120)

    def kinds_of_incidents(self):
        return [incident["kind"] for incident in self.cluster.json("incidents")]

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

        self.assertEqual(cluster.hai("status", forgotten).code, 3, "there never was such a job")
        went_back = lambda: "store_went_back" in self.kinds_of_incidents()
        eventually("the servers notice", went_back, 120)
        job = cluster.job(runs)
        self.assertEqual((job["state"], job["attempt"]), ("running", 1))

        # Anybody whom a table is granted to reaches it, as in a database that was never restored.
        self.assertIn("=U/", self.sql("SELECT nspacl FROM pg_namespace WHERE nspname = 'public'"))

        # And again, onto what the first one has restored.
        self.kill_server(dump)
        self.assertIn("restored", self.backup("restore", dump, "--replace"))
        cluster.start("server")
        self.leading()
        self.assertEqual(cluster.job(runs)["attempt"], 1)

    def sql(self, query):
        conninfo = self.cluster.status()["postgres"]
        words = [postgres_folder() / "psql", "-X", "-A", "-t", "-c", query, "-d", conninfo]
        return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout

    def kill_server(self, dump):
        """Gone is it only when its sessions are."""
        self.cluster.kill("server")
        refused = lambda: self.backup("restore", dump, code=1)
        eventually("its sessions end", lambda: "--replace gives up" in refused(), 120)

    def test_the_newest_are_kept(self):
        made = [self.backup("create").splitlines()[0] for _ in range(5)]
        self.assertEqual(self.kept(), made[-3:])
        (self.dumps / "hai-20000101T000000.000000Z.partial").write_text("of one that was killed")
        self.backup("create")
        self.assertEqual(list(self.dumps.glob("*.partial")), [])

    def kept(self, **options):
        return [line.split()[-1] for line in self.backup("list", **options).splitlines()]

    def test_options_count_more_than_the_environment_and_that_more_than_the_file(self):
        folder = self.cluster.root / "said"
        settings = self.cluster.root / "other-settings"
        settings.write_text(f"# by hand\nHAI_BACKUP_DIR='{folder}'\n  HAI_BACKUP_KEEP = 4 \nOTHER=x\n")
        for words, env, count in (
            ([], {}, 4),
            ([], {"HAI_BACKUP_KEEP": "3"}, 3),
            (["--keep", 2], {"HAI_BACKUP_KEEP": "3"}, 2),
        ):
            for _ in range(count + 1):
                self.backup("create", *words, settings=settings, env=env)
            self.assertEqual(len(self.kept(settings=settings)), count, (words, env))
        self.assertEqual(len(list(folder.glob("*.dump"))), 2)
        elsewhere = self.cluster.root / "elsewhere"
        self.assertEqual(self.kept(settings=settings, env={"HAI_BACKUP_DIR": str(elsewhere)}), [])
        settings.write_text("HAI_BACKUP_KEEP=all\n")
        said = self.backup("create", settings=settings, code=2)
        self.assertIn("HAI_BACKUP_KEEP: must be a number from 1 to 100000, is 'all'", said)
        self.assertIn("/var/backups/hai", self.backup("--help", settings="/nowhere"))

    def test_the_machines_own_databases_are_not_asked(self):
        """Debian's wrappers of pg_dump and psql go by /etc/postgresql: one there lends its port to a
        connection that names none, and of several without the default port a warning hides the error."""
        for ports in ((), (5433,), (5441, 5442)):
            root = self.cluster.root / f"clusters-{len(ports)}"
            root.mkdir()
            for port in ports:
                main = root / postgres_folder().parent.name / f"main{port}"
                main.mkdir(parents=True)
                (main / "postgresql.conf").write_text(f"port = {port}\ndata_directory = '{root}'\n")
            env = {"PG_CLUSTER_CONF_ROOT": str(root)}
            dump = self.backup("create", env=env).splitlines()[0]
            self.assertIn("stop all of them first", self.backup("restore", dump, code=1, env=env))
            config = self.cluster.root / "nowhere.yaml"
            config.write_text("store: {conninfo: host=/nonexistent dbname=hai}\n")
            said = self.backup("--config", config, "create", code=1, env=env)
            self.assertIn("/nonexistent", said)

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
