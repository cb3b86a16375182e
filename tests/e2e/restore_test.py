"""hai-backup without a cluster: whose a dump is, and restores to a moment that are refused, fail or come
again. With a PostgreSQL of its own, and no program of hai's that is built."""

import datetime
import os
import pathlib
import pwd
import resource
import shutil
import subprocess
import tempfile
import time
import unittest

from cluster import REPOSITORY
from servers import Database

PROGRAM = REPOSITORY / "deploy" / "hai-backup"


def call(*words, env=None, **options):
    """Without what the environment says of hai and PostgreSQL."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HAI_", "PG"))}
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=240,
        env={**kept, "LC_ALL": "C.UTF-8", **(env or {})},
        **options,
    )


class WhoseDumpTest(unittest.TestCase):
    """Two clusters whose dumps are in one folder, and a database that none has marked."""

    FIRE, ICE = "0f1e2d3c" * 4, "a0b1c2d3" * 4

    @classmethod
    def setUpClass(cls):
        if subprocess.run(["/usr/bin/python3", "-c", "import yaml"], check=False).returncode != 0:
            raise unittest.SkipTest("python3-yaml is not installed")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        cls.root.chmod(0o755)
        cls.database = Database(cls.root, ("fsync=off",))
        cls.database.start()
        cls.addClassCleanup(cls.database.stop)

    def setUp(self):
        self.dumps = self.root / self.id().split(".")[-1]
        for name in ("fire", "ice", "other", "empty"):
            self.database.sql(f"DROP DATABASE IF EXISTS {name}")
        for name, mark in (
            ("fire", f"hai cluster {self.FIRE} it's fire"),
            ("ice", f"hai cluster {self.ICE} ice"),
            ("other", ""),
        ):
            self.database.sql(f"CREATE DATABASE {name}")
            self.database.sql("CREATE TABLE schema_migration (version int)", name)
            self.database.sql(f"CREATE TABLE thing AS SELECT '{name}' AS name", name)
            if mark:
                quoted = mark.replace("'", "''")
                self.database.sql(f"COMMENT ON TABLE schema_migration IS '{quoted}'", name)
        self.database.sql("CREATE DATABASE empty")

    def backup(self, name, *words, code=0):
        (self.root / name).mkdir(exist_ok=True)
        config = self.root / name / "server.yaml"
        config.write_text(f"store: {{conninfo: host={self.database.data} user=hai dbname={name}}}\n")
        options = ("--config", config, "--settings", "/nowhere", "--dir", self.dumps)
        done = call(PROGRAM, *options, *words)
        self.assertEqual(done.returncode, code, done)
        return done.stdout if code == 0 else done.stderr

    def create(self, name, *words):
        return self.backup(name, "create", *words).splitlines()[0]

    def listed(self):
        return [line.split()[-1] for line in self.backup("fire", "list").splitlines()]

    def thing(self, name):
        return self.database.sql("SELECT name FROM thing", name)

    def test_each_prunes_its_own(self):
        made = {name: [self.create(name) for _ in range(2)] for name in ("fire", "ice", "other")}
        self.assertRegex(made["fire"][0], r"/hai-\d{8}T\d{6}\.\d{6}Z-0f1e2d3c\.dump$")
        self.assertRegex(made["ice"][0], r"Z-a0b1c2d3\.dump$")
        self.assertRegex(made["other"][0], r"\.\d{6}Z\.dump$")
        # As dumps were called before, one of each.
        early = {}
        for number, name in enumerate(("fire", "ice", "other"), start=1):
            early[name] = str(self.dumps / f"hai-20260101T00000{number}.000000Z.dump")
            shutil.copy(made[name][0], early[name])
        broken = self.dumps / "hai-20260101T000000.000000Z.dump"
        broken.write_bytes(b"PGDMP" + bytes(1000))
        said = self.backup("fire", "create", "--keep", 2).splitlines()
        self.assertIn(f"removed {early['fire']}: 2 are kept", said)
        self.assertIn("7 dumps there are not known to be this cluster's, and stay", said)
        left = [str(broken), early["ice"], early["other"], made["fire"][1]]
        left += [*made["ice"], *made["other"], said[0]]
        self.assertEqual(self.listed(), sorted(left))
        self.backup("other", "create", "--keep", 1)
        self.assertEqual(set(left) - set(self.listed()), {early["other"], *made["other"]})

    def test_another_clusters_dump_is_refused(self):
        fire, other = self.create("fire"), self.create("other")
        old_name = self.dumps / "hai-20260101T000000.000000Z.dump"
        shutil.copy(fire, old_name)
        for dump in (fire, old_name):
            said = self.backup("ice", "restore", dump, "--replace", code=1)
            self.assertIn("the cluster of this dump is it's fire (0f1e2d3c)", said)
            self.assertIn("that of the database ice (a0b1c2d3)", said)
        said = self.backup("ice", "restore", other, "--replace", code=1)
        self.assertIn("this dump names no cluster", said)
        self.assertIn("if it is of ice (a0b1c2d3), say --of-another-cluster", said)
        self.assertEqual(self.thing("ice"), "ice")
        self.backup("fire", "restore", old_name, "--replace")
        self.backup("other", "restore", other, "--replace")
        self.backup("ice", "restore", fire, "--replace", "--of-another-cluster")
        self.assertEqual(self.thing("ice"), "fire")

    def test_the_dump_as_sql_is_beside_it(self):
        """/tmp may be small, or of memory; and the failure says what room where is needed."""
        dump = self.create("fire")
        config = self.root / "fire" / "server.yaml"
        words = (PROGRAM, "--config", config, "--settings", "/nowhere", "restore", dump, "--replace")
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # noqa: E731
        done = call(*words, preexec_fn=small)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(len(done.stderr.splitlines()), 1, done)
        self.assertIn(f"{self.dumps} must be writable and have room for the dump as SQL", done.stderr)
        self.assertIn("nothing was changed", done.stderr)
        self.assertEqual(self.thing("fire"), "fire")
        self.assertEqual(call(*words).returncode, 0)
        self.assertEqual(self.thing("fire"), "fire")
        self.assertEqual([path.name for path in self.dumps.iterdir()], [pathlib.Path(dump).name])

    def test_an_empty_database_is_of_the_cluster_that_was_set_up_here(self):
        dump = self.create("fire")
        (self.root / "empty").mkdir()
        identity = self.root / "empty" / "cluster.id"
        identity.write_text(f"{self.ICE}\n")
        self.assertIn("that of the database (a0b1c2d3)", self.backup("empty", "restore", dump, code=1))
        identity.write_text(f"{self.FIRE}\n")
        self.backup("empty", "restore", dump)
        self.assertEqual(self.thing("empty"), "fire")
        identity.unlink()
        self.database.sql("DROP DATABASE empty")
        self.database.sql("CREATE DATABASE empty")
        self.backup("empty", "restore", dump)


class OfOtherUsers(unittest.TestCase):
    """A folder and the program where other users may read them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.root.chmod(0o755)
        self.program = self.root / "hai-backup"
        shutil.copy(PROGRAM, self.program)


class RestoreToTest(OfOtherUsers):
    """What `restore --to` refuses before it touches anything. It is played whole in tests/e2e/ha_store."""

    def setUp(self):
        super().setUp()
        self.data = self.root / "data"
        self.data.mkdir()
        (self.root / "pgbackrest.conf").write_text(f"[hai]\npg1-path={self.data}\n")

    def refused(self, *words, code=1, user=None):
        done = subprocess.run(
            [self.program, "restore", *words],
            capture_output=True,
            text=True,
            timeout=60,
            cwd="/",
            user=user,
            env={"PATH": os.environ["PATH"], "PGBACKREST_CONFIG": str(self.root / "pgbackrest.conf")},
        )
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(sorted(path.name for path in self.root.glob("data*")), ["data"])
        return done.stderr

    def test_mistakes_of_the_command(self):
        for words, wrong in (
            ((), "name a dump, or a moment by --to"),
            (("a.dump", "--to", "2026-11-24T10:00:00Z"), "name a dump, or a moment by --to"),
            (("--to", "2026-11-24 10:00:00"), "a time with its zone"),
            (("--to", "yesterday"), "a time with its zone"),
        ):
            with self.subTest(words=words):
                self.assertIn(wrong, self.refused(*words, code=2))

    def test_what_is_not_ready_for_it(self):
        user = "postgres" if os.geteuid() == 0 else None
        moment = ("--to", "2026-11-24 10:00:00+00")
        self.assertIn("no pg1-path in [other]", self.refused(*moment, "--stanza", "other", user=user))
        if user:
            self.assertIn("runuser -u postgres -- hai-backup", self.refused(*moment))
        self.assertIn("is yet to come", self.refused("--to", "2999-01-01T00:00:00Z", user=user))
        (self.data / "postmaster.pid").write_text(f"{os.getpid()}\n{self.data}\n")
        self.assertIn("stop Patroni first", self.refused(*moment, user=user))


@unittest.skipUnless(shutil.which("pgbackrest"), "needs pgbackrest: deploy/install_packages.sh --tests")
class RestoreToAgainTest(OfOtherUsers):
    """A `restore --to` that did not come to its end, and the next one."""

    def setUp(self):
        super().setUp()
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        config = self.root / "pgbackrest.conf"
        self.path = self.root / "programs"
        for each in ("repository", "log", "lock", "programs"):
            (self.root / each).mkdir()
            if os.geteuid() == 0:
                shutil.chown(self.root / each, self.user)
        self.env = {"PGBACKREST_CONFIG": str(config), "PATH": f"{self.path}:{os.environ['PATH']}"}
        archive = ("archive_mode=on", "archive_command=pgbackrest --stanza=hai archive-push %p")
        self.database = Database(self.root, archive, administrator=self.user)
        self.database.environment = self.env
        self.data = self.database.data / "main"
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write("fsync = off\n")
        config.write_text(
            f"[global]\nrepo1-path={self.root}/repository\nlog-path={self.root}/log\nstart-fast=y\n"
            f"lock-path={self.root}/lock\n[hai]\npg1-path={self.data}\npg1-socket-path={self.database.data}\n"
        )
        self.database.start()
        self.addCleanup(self.database.stop)
        for words in ("stanza-create", "backup"):
            self.assertEqual(self.call("pgbackrest", "--stanza=hai", words).returncode, 0)
        time.sleep(1.1)  # pgBackRest counts in seconds
        self.database.sql("CREATE TABLE thing AS SELECT 1 AS number")
        self.moment = self.database.sql("SELECT clock_timestamp()")
        self.database.sql("INSERT INTO thing VALUES (2)")
        self.assertEqual(self.call("pgbackrest", "--stanza=hai", "check").returncode, 0)
        self.database.stop()
        (self.data / "of-the-first").write_text("")

    def call(self, *words):
        user = self.user if os.geteuid() == 0 else None
        return call(*words, env=self.env, user=user, cwd="/")

    def restore(self, moment, *words, code=0):
        done = self.call(self.program, "restore", "--to", moment, *words)
        self.assertEqual(done.returncode, code, done)
        return done.stdout if code == 0 else done.stderr

    def kept(self):
        """The one folder that is kept, with what was there at first."""
        (found,) = self.database.data.glob("main.before-*")
        self.assertTrue((found / "of-the-first").exists())
        return found

    def break_pgbackrest(self):
        """It ends when a part of the data is there."""
        wrong = self.path / "pgbackrest"
        wrong.write_text(
            f"#!/bin/sh\nfor last; do :; done\n[ $last = restore ] || exec {shutil.which('pgbackrest')} \"$@\"\n"
            f"mkdir {self.data}/base; echo half > {self.data}/PG_VERSION\n"
            "echo 'ERROR: [099]: the cable is out' >&2; exit 99\n"
        )
        wrong.chmod(0o755)
        return wrong

    def test_what_was_there_at_first_is_kept_and_named(self):
        late = datetime.datetime.now(datetime.timezone.utc).isoformat()
        time.sleep(0.1)
        wrong = self.break_pgbackrest()
        said = self.restore(late, code=1)
        self.assertIn("the cable is out", said)
        self.assertIn(f"rename {self.kept()} to it", said)
        wrong.unlink()
        time.sleep(1.1)  # names have seconds
        said = self.restore(late, code=1)
        self.assertIn("recovery ended before configured recovery target was reached", said)
        self.assertIn("name an earlier time", said)
        self.assertIn(f"rename {self.kept()} to it", said)
        time.sleep(1.1)
        said = self.restore(self.moment)
        self.assertIn("removed what an unfinished restore has left", said)
        self.kept()
        names = {path.name for path in self.database.data.glob("main*")}
        self.assertEqual(names, {"main", "main.restore.log", self.kept().name})
        self.assertFalse((self.data / "hai-restoring").exists())
        self.database.start()
        self.assertEqual(self.database.sql("SELECT number FROM thing"), "1")

    def test_a_store_that_was_made_otherwise_meanwhile_is_kept(self):
        """As by Patroni, which copies another machine's: the marker of the first try still lies there."""
        wrong = self.break_pgbackrest()
        self.restore(self.moment, code=1)
        wrong.unlink()
        shutil.rmtree(self.data)
        first = self.kept()
        shutil.copytree(first, self.data)
        (self.data / "made-otherwise").write_text("")
        if os.geteuid() == 0:
            for path in [self.data, *self.data.rglob("*")]:
                shutil.chown(path, self.user)
        time.sleep(1.1)
        said = self.restore(self.moment)
        (second,) = set(self.database.data.glob("main.before-*")) - {first}
        self.assertTrue((second / "made-otherwise").exists())
        self.assertIn(f"kept what was there: {second}", said)
        # Of a restore that came to its moment under somebody else's hands only the marker is left.
        (self.data / "hai-restoring").write_text(first.name)
        (self.data / "went-on").write_text("")
        time.sleep(1.1)
        self.restore(self.moment)
        (third,) = set(self.database.data.glob("main.before-*")) - {first, second}
        self.assertTrue((third / "went-on").exists())


if __name__ == "__main__":
    unittest.main()
