"""From a machine with the programs and a PostgreSQL to a running cluster: `hai-server setup`, again, after
it was cut off, with what is not its own, and for a further server."""

import os
import pty
import pwd
import re
import shutil
import subprocess
import unittest

from bare_site import USER, SiteTest
from cluster import eventually, programs


class SetupTest(SiteTest):
    def test_from_nothing_to_a_job_on_a_node(self):
        site = self.site
        said = site.set_up("--admin", "boss")
        token = (site.folder() / "admin.token").read_text().strip()
        self.assertEqual(said.count(token), 1, said)
        owner = pwd.getpwnam(USER).pw_uid
        tree = site.tree()
        for name in ("admin.token", "ca/ca.key", "secrets.key", "server.key"):
            self.assertEqual(tree[name][:2], (0o600, owner), name)
        for name in ("server.yaml", "ca/ca.crt", "server.crt", "cluster.id"):
            self.assertEqual(tree[name][0], 0o644, name)
        # The database is the server's user's, sorts by bytes, and says whose it is.
        sql = site.database.sql
        self.assertEqual(
            sql("SELECT pg_get_userbyid(datdba), datcollate FROM pg_database WHERE datname = 'hai'"),
            f"{USER}|C",
        )
        mark = sql("SELECT obj_description('schema_migration'::regclass)", "hai")
        self.assertEqual(mark, f"hai cluster {tree['cluster.id'][2].decode().strip()} fire")
        # The lines that it prints.
        self.assertIn(f"hai init - --url https://{site.address()} --ca {site.folder()}/ca/ca.crt", said)
        site.start_server()
        self.assertIn("you are boss (admin)", site.admit().err)
        site.ok("user", "add", "--csv", "-", stdin="name,groups,role\nroot,ops;ml,admin\nann,ml,\n")
        before = site.json("user", "list")
        bad = site.hai("user", "add", "--csv", "-", stdin="name,role\ncy,user\nann,boss\n")
        self.assertEqual((bad.code, bad.out), (2, ""))
        self.assertEqual(
            bad.err, "hai: -:3: role: must be user, operator or admin, is 'boss'\n"
        )
        self.assertEqual(site.json("user", "list"), before)
        # One that is there is told so, and is not changed; a table says what it changes.
        there = site.hai("user", "add", "ann", "--groups", "other")
        self.assertEqual((there.code, there.out), (4, ""))
        self.assertEqual(
            there.err,
            "hai: the user ann is there already (role user, groups ml) and was not changed: "
            "`hai user set ann ...` changes what it names\n",
        )
        self.assertEqual(site.json("user", "list"), before)
        more = site.hai("user", "add", "--csv", "-", stdin="name,groups\nann,ml;nlp\n")
        self.assertEqual(
            more.err,
            "hai: ann was there: role user, groups ml; now role user, groups ml,nlp\n"
            "hai: 1 users: 0 added, 1 changed, 0 unchanged\n",
        )
        site.ok("user", "set", "ann", "--groups", "ml")
        again = site.hai("user", "add", "--csv", "-", stdin="name,groups\nann,ml\ncy,ml\n")
        self.assertEqual(again.err, "hai: 2 users: 1 added, 0 changed, 1 unchanged\n")
        # Several at once; who knows the CA's fingerprint needs no file.
        two = site.json("user", "add", "dan", "eve", "--groups", "ml")
        self.assertEqual([(user["name"], user["groups"]) for user in two], [("dan", ["ml"]), ("eve", ["ml"])])
        both = site.hai("user", "add", "fay", "eve")
        self.assertEqual((both.code, "the user eve is there already" in both.err), (4, True), both.err)
        self.assertNotIn("fay", site.ok("user", "list"))
        words = re.search("hai (init - --url .* --ca-fingerprint .*)", said)[1].split()
        self.assertIn("you are boss (admin)", site.hai(*words, "--name", "again", stdin=token).err)
        wrong = site.hai(*words[:-1], "sha256:" + "0" * 64, "--name", "no", stdin=token)
        self.assertEqual((wrong.code, wrong.out), (2, ""), wrong.err)
        site.ok("context", "use", "fire")
        line = site.ok("node", "token", "create", "node-[1-2]", "--uses", "2")
        server, secret, fingerprint = re.match(
            r"hai-agent join (\S+) --token (\S+) --ca-fingerprint (\S+)", line
        ).groups()
        table = site.root / "nodes.csv"
        table.write_text("name,group,zone,leaf\nnode-1,training,A,leaf-7\nnode-2,training,B,leaf-8\n")
        agent = site.root / "agent"
        agent.mkdir()
        join = ["join", server, "--token", secret, "--ca-fingerprint", fingerprint, "--name", "node-1",
                "--table", table, "--config", agent / "agent.yaml"]  # fmt: skip
        done = site.program("hai-agent", *join)
        self.assertEqual(done.returncode, 0, done.stderr)
        config = (agent / "agent.yaml").read_text()
        self.assertIn('group: "training"\nzone: "A"\nleaf: "leaf-7"\n', config)
        # At the next start of the machine the same line finds all done, and the token keeps its use.
        done = site.program("hai-agent", *join, "--once")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("node-1 has joined already\n"), done.stdout)
        self.assertEqual(site.json("node", "token", "list")[0]["uses_left"], 1)
        # With the machine's own config the unit is enabled and started.
        done, told, folder = site.as_machine("hai-agent", *join[:6], "--name", "node-2", "--table", table)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(told[-1], "enable --now hai-agent.service")
        self.assertIn("hai-agent.service runs, and starts with the machine\n", done.stdout)
        self.assertIn('zone: "B"', (folder / "agent.yaml").read_text())
        done, told, _ = site.as_machine("hai-agent", *join[:6], "--name", "node-3", "--table", table)
        self.assertEqual((done.returncode, told), (1, []))
        self.assertIn("nodes.csv: has no line for node-3 among its 2: add one, or say --name", done.stderr)
        (agent / "agent.yaml").write_text(
            config.replace("/var/lib/hai/agent", str(agent))
            + "simulate_gpus: 8\nisolation: shared\nconfinement: {system_users: [root]}\n"
            + "unknown_user_runs_as_self: true\n"
        )
        site.start("hai-agent", agent / "agent.yaml")
        eventually("the node is up", lambda: site.hai("nodes", "-o", "json").out.count('"up"'), 60)
        self.assertEqual(site.json("nodes")[0]["leaf"], "leaf-7")
        job = site.exec("true", "-n", "1")
        eventually("the job is done", lambda: site.job(job)["state"] == "succeeded", 60)

    def test_again_it_changes_nothing(self):
        site = self.site
        site.set_up()
        before = site.tree()
        done = site.setup("--no-start", "--user", USER)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(site.tree(), before)
        self.assertNotIn("token", done.stdout)
        self.assertIn("database: schema", done.stdout)
        # Flags that agree with the config are no mistake, others are.
        self.assertEqual(site.setup("--cluster", "fire", "--no-start", "--user", USER).returncode, 0)
        for words in (
            ["--cluster", "ice"], ["--database", "host=db"], ["--admin", "ann"], ["--grpc-port", "7"],
            ["--http-port", "7"], ["--postgres-socket", "/nowhere"], ["--names", "elsewhere"],
        ):  # fmt: skip
            done = site.setup(*words, "--no-start", "--user", USER)
            self.refused(done, "is there already and says", 2)
        self.assertEqual(site.tree(), before)

    def names_of_certificate(self, name="one"):
        words = ["x509", "-in", self.site.folder(name) / "server.crt", "-noout", "-ext", "subjectAltName"]
        done = subprocess.run(["openssl", *words], check=True, capture_output=True, text=True)
        return re.findall(r"(?:DNS|IP Address):([^,\s]+)", done.stdout)

    def test_a_certificate_is_for_the_names_that_are_told(self):
        site = self.site
        site.set_up()
        self.assertEqual(self.names_of_certificate(), ["localhost", "127.0.0.1"])
        rest = ["--no-start", "--user", USER]
        other = ["--names", "localhost,hai.example"]
        before = site.tree()
        kept = "is there already and is for localhost,127.0.0.1, not for localhost,hai.example"
        self.refused(site.setup(*other, *rest), kept)
        (site.folder() / "server.yaml").unlink()
        words = ["localhost,hai.example" if "," in str(word) else word for word in site.local()]
        self.refused(site.setup(*words, "--cluster", "fire", *site.ports()), kept)
        (site.folder() / "server.yaml").write_bytes(before["server.yaml"][2])
        self.assertEqual(site.tree(), before)
        # Renewed: the old one away, and all its names again.
        for name in ("server.crt", "server.key"):
            (site.folder() / name).unlink()
        done = site.setup("--names", "127.0.0.1,localhost,hai.example", *rest)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names_of_certificate(), ["127.0.0.1", "localhost", "hai.example"])

    def test_a_key_without_its_certificate_is_put_aside(self):
        site = self.site
        site.folder().mkdir()
        site.folder().chmod(0o755)
        (site.folder() / "server.key").write_text("of a person")
        site.set_up()
        self.assertEqual((site.folder() / "server.key.unused").read_text(), "of a person")
        (site.folder() / "server.crt").unlink()
        done = site.setup("--no-start", "--user", USER)
        self.assertEqual(done.returncode, 1)
        self.assertIn("server.key.unused are there and used by nothing here: move them", done.stderr)
        self.assertTrue((site.folder() / "server.key").exists())

    def test_a_narrow_umask_keeps_nobody_out(self):
        site = self.site
        modes = {".": 0o755, "ca": 0o755, "ca/ca.crt": 0o644, "server.crt": 0o644,
                 "cluster.id": 0o644, "server.yaml": 0o644, "ca/ca.key": 0o600, "server.key": 0o600}  # fmt: skip

        def found():
            return {name: (site.folder() / name).stat().st_mode & 0o777 for name in modes}

        done = site.setup(*site.local(), "--cluster", "fire", *site.ports(), umask=0o077)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(found(), modes)
        # What an earlier version has left is mended; a group of hai's own will do.
        for name in (".", "ca"):
            (site.folder() / name).chmod(0o700)
        for name in ("ca/ca.crt", "server.crt", "cluster.id", "server.yaml"):
            (site.folder() / name).chmod(0o600)
        done = site.setup("--no-start", "--user", USER, umask=0o077)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(found(), modes)
        os.chown(site.folder(), 0, pwd.getpwnam(USER).pw_gid)
        site.folder().chmod(0o750)
        self.assertEqual(site.setup("--no-start", "--user", USER).returncode, 0)
        self.assertEqual(found(), {**modes, ".": 0o750})

    def test_one_that_was_cut_off_is_finished(self):
        site = self.site
        site.set_up()
        before = site.tree()
        for gone in (["server.yaml"], ["server.yaml", "server.crt"], ["server.yaml", "admin.token"]):
            for name in gone:
                (site.folder() / name).unlink()
            done = site.setup(*site.local(), "--cluster", "fire", *site.ports())
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            after = site.tree()
            if "server.crt" in gone:
                self.assertEqual(after.pop("server.key.unused")[2], before["server.key"][2])
                (site.folder() / "server.key.unused").unlink()
            for name in ("ca/ca.crt", "ca/ca.key", "secrets.key", "cluster.id"):
                self.assertEqual(after[name], before[name], name)
            self.assertEqual(sorted(after), sorted(before))
        # Cut off before the database was there, between the two files of the CA.
        site.database.sql("DROP DATABASE hai")
        for name in ("server.yaml", "ca/ca.crt", "server.crt", "server.key"):
            (site.folder() / name).unlink()
        done = site.setup(*site.local(), "--cluster", "fire", *site.ports())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((site.folder() / "ca/ca.key.unused").read_bytes(), before["ca/ca.key"][2])

    def test_the_first_token_may_be_deleted(self):
        site = self.site
        site.set_up()
        server = site.start_server()
        site.admit()
        server.kill()
        server.wait()
        (site.folder() / "admin.token").unlink()
        done = site.setup("--no-start", "--user", USER)
        self.assertEqual(done.returncode, 0, done.stderr)
        site.start_server()
        eventually("it starts", lambda: site.hai("whoami").code == 0, 60)
        self.assertNotIn("admin.token", site.tree())

    def test_one_that_was_cut_off_before_its_first_key_is_finished(self):
        site = self.site
        sql = site.database.sql
        site.set_up()
        mark = sql("SELECT obj_description('schema_migration'::regclass)", "hai")
        sql("DROP DATABASE hai")
        sql(f"CREATE DATABASE hai OWNER {USER}")
        sql(f"SET ROLE {USER}; CREATE TABLE schema_migration (version bigint PRIMARY KEY, name text NOT NULL,"
            " applied_at timestamptz NOT NULL DEFAULT now());"
            f" COMMENT ON TABLE schema_migration IS '{mark}'", "hai")  # fmt: skip
        for path in site.folder().iterdir():
            if path.name != "cluster.id":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        done = site.setup(*site.local(), "--cluster", "fire", *site.ports())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sql("SELECT obj_description('schema_migration'::regclass)", "hai"), mark)
        self.assertIn("ca/ca.key", site.tree())

    def test_what_the_cluster_has_is_never_made_anew(self):
        site = self.site
        site.set_up()
        (site.folder() / "server.yaml").unlink()
        for name in ("ca/ca.key", "secrets.key"):
            kept = site.root / "kept"
            (site.folder() / name).rename(kept)
            before = site.tree()
            done = site.setup(*site.local(), "--cluster", "fire")
            self.refused(done, f"{name} is not there, and the cluster has one: put it back")
            self.assertEqual(site.tree(), before)
            kept.rename(site.folder() / name)
        # With the config there, the check finds what it names.
        done = site.setup(*site.local(), "--cluster", "fire", *site.ports())
        self.assertEqual(done.returncode, 0, done.stderr)
        (site.folder() / "secrets.key").unlink()
        done = site.setup("--no-start", "--user", USER)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"would not start:\n\S+: secrets: cannot read")

    def test_a_database_of_another_cluster_is_refused(self):
        site = self.site
        site.set_up()
        conninfo = site.setting("conninfo")
        rest = ["--yes", "--no-start", "--user", USER, "--names", "localhost"]
        done = site.setup("--database", conninfo, *rest, name="two")
        self.refused(done, "the database belongs to another cluster, fire: name another database")
        self.assertFalse(site.folder("two").exists())
        # Of a cluster that was made by hand there is no mark; its people say that there is one.
        site.start_server()
        site.admit()
        site.database.sql("COMMENT ON TABLE schema_migration IS NULL", "hai")
        done = site.setup("--database", conninfo, *rest, name="two")
        self.refused(done, "the database has a cluster already")
        self.assertFalse(site.folder("two").exists())
        # Its own config is proof enough, and marks it.
        done = site.setup("--no-start", "--user", USER)
        self.assertEqual(done.returncode, 0, done.stderr)
        mark = site.database.sql("SELECT obj_description('schema_migration'::regclass)", "hai")
        self.assertIn("fire", mark)

    def test_what_is_wrong_is_said_before_anything_is_made(self):
        site = self.site
        local = ["--postgres-socket", site.database.data]
        for words, sentence, code in (
            ([], "standard input is no terminal: say --yes", 1),
            (["--yes", "--user", "no-such-user"], "this machine has no user no-such-user: install", 1),
            (["--yes", "--names", "a b"], "--names: must be DNS names or addresses", 2),
            (["--yes", "--names", "hai.example:7700"], "--names: must be DNS names", 2),
            (["--yes", "--cluster", "fire drill"], "--cluster: must be 1..128", 2),
            (["--yes", "--grpc-port", "0"], "--grpc-port: must be a port", 2),
            (["--yes", "--grpc-port", "7", "--http-port", "7"], "--http-port: is that of", 2),
            (["--yes", "--database", "host=db password=x"], "passfile=/etc/hai/pgpass instead", 2),
            (["--yes", "--database", "postgresql://u:x@db/hai"], "passfile=/etc/hai/pgpass", 2),
            (["--yes", "--database", "hosst=db"], '--database: invalid connection option "hosst"', 2),
            (["--yes", "--user", USER, "--database", "host=/nowhere dbname=x"], "postgres: ", 1),
            (["--yes", "--user", USER, "--postgres-socket", "/nowhere"], "apt-get install postgresql", 1),
            (["--yes", "--user", USER, *local, "--authority", "/nowhere"], "cannot read /nowhere/ca.crt", 1),
            (["--yes", "--user", USER, *local, "--certificate", "/no.crt", "--key", "/no.key"],
             "cannot read /no.crt", 1),
            (["--user", USER, "--bundle", "/nowhere"], "cannot read /nowhere", 1),
            (["--user", USER, "--bundle", "-"], "is not what `hai-server setup --export-bundle` writes", 2),
            (["--bundle", "-", "--cluster", "x"], "--cluster: comes from the bundle", 2),
            (["--export-bundle", "-"], "server.yaml", 1),
        ):
            with self.subTest(words=words):
                self.refused(site.setup(*words), sentence, code)
                self.assertFalse(site.folder().exists(), words)
        done = site.setup("--yes", user=USER)
        self.refused(done, "a database on this machine is made by root")
        done = site.setup("--yes", "--user", "root", user=USER)
        self.refused(done, "only root sets a server up for another user")

    def test_the_sites_own_ca_and_certificate_are_used_where_they_are(self):
        site = self.site
        ca = site.root / "site-ca"
        site.program("hai-server", "ca", "init", ca)
        site.program("hai-server", "ca", "issue", ca, "--server", "localhost")
        for name in ("ca.key", "server-localhost.key"):
            os.chown(ca / name, pwd.getpwnam(USER).pw_uid, -1)
        site.set_up("--authority", ca, "--certificate", ca / "server-localhost.crt",
                    "--key", ca / "server-localhost.key")  # fmt: skip
        self.assertEqual(
            sorted(site.tree()), ["admin.token", "cluster.id", "secrets.key", "server.yaml"]
        )
        self.assertEqual(site.setting("authority"), str(ca))

    def test_a_further_server_takes_a_bundle(self):
        site = self.site
        site.set_up()
        # By the socket only this machine reaches the database.
        self.refused(site.setup("--export-bundle", "-"), "is reached from this machine only")
        conninfo = site.setting("conninfo")
        bundle = site.root / "bundle"
        done = site.setup("--export-bundle", bundle, "--database", conninfo)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(bundle.stat().st_mode & 0o777, 0o600)
        rest = ["--no-start", "--user", USER, "--names", "localhost"]
        # One that is newer than the others does not raise the schema under them.
        sql = site.database.sql
        latest = sql("SELECT max(version) FROM schema_migration", "hai")
        sql(f"UPDATE schema_migration SET version = 0 WHERE version = {latest}", "hai")
        done = site.setup("--bundle", bundle, *rest, *site.ports(), name="two")
        self.refused(done, "upgrade the other servers first")
        self.assertFalse(site.folder("two").exists())
        sql(f"UPDATE schema_migration SET version = {latest} WHERE version = 0", "hai")
        done = site.setup("--bundle", "-", *rest, *site.ports(), name="two", stdin=bundle.read_text())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        one, two = site.tree(), site.tree("two")
        for name in ("ca/ca.crt", "ca/ca.key", "secrets.key", "cluster.id"):
            self.assertEqual(two[name], one[name], name)
        self.assertNotEqual(two["server.key"], one["server.key"])
        self.assertNotIn("admin.token", two)
        self.assertNotIn(str(site.folder("one")), two["server.yaml"][2].decode())
        before = two
        done = site.setup("--bundle", bundle, *rest, name="two")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(site.tree("two"), before)
        # Either may lead: people reach the cluster by both.
        first = site.start_server("one")
        site.admit()
        site.start_server("two")
        first.kill()
        first.wait()
        urls = [f"https://{site.address(name=name)}" for name in ("one", "two")]
        token = (site.folder() / "admin.token").read_text()
        done = site.ok("init", "-", "--url", urls[0], "--url", urls[1], "--ca",
                       site.folder() / "ca/ca.crt", stdin=token)  # fmt: skip
        self.assertIn("fire", done)
        # Not into a folder of another cluster.
        (site.folder("two") / "cluster.id").write_text("0" * 32 + "\n")
        done = site.setup("--bundle", bundle, *rest, name="two")
        self.refused(done, "has the files of another cluster")

    def test_a_further_server_gets_the_passfile_before_it_asks_the_database(self):
        site = self.site
        site.set_up()
        sql = site.database.sql
        sql("CREATE ROLE remote SUPERUSER LOGIN PASSWORD 'geheim'")
        self.addCleanup(sql, "DROP ROLE IF EXISTS remote")
        rules = site.database.data / "main/pg_hba.conf"
        old = rules.read_text()
        rules.write_text("local all remote scram-sha-256\n" + old)
        self.addCleanup(sql, "SELECT pg_reload_conf()")
        self.addCleanup(rules.write_text, old)
        sql("SELECT pg_reload_conf()")
        passfile = site.folder() / "pgpass"
        remote = f"host={site.database.data} dbname=hai user=remote passfile={passfile}"
        export = ["--export-bundle", site.root / "bundle", "--database", remote]
        done = site.setup(*export)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"not in the bundle, copy it yourself: {passfile}", done.stderr)
        passfile.write_text("*:*:*:remote:geheim\n")
        passfile.chmod(0o600)
        done = site.setup(*export)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rest = ["--no-start", "--user", USER, "--names", "localhost", *site.ports()]
        # Where the database refuses, nothing is left, and not the secret.
        sql("ALTER ROLE remote PASSWORD 'other'")
        done = site.setup("--bundle", site.root / "bundle", *rest, name="two")
        self.refused(done, "password authentication failed")
        self.assertFalse(site.folder("two").exists())
        sql("ALTER ROLE remote PASSWORD 'geheim'")
        done = site.setup("--bundle", site.root / "bundle", *rest, name="two")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(
            site.tree("two")["pgpass"],
            (0o600, pwd.getpwnam(USER).pw_uid, b"*:*:*:remote:geheim\n"),
        )
        self.assertIn(f"passfile={site.folder('two')}/pgpass", site.config("two").read_text())
        # A first server gives away one that root has put there.
        self.assertEqual(site.tree()["pgpass"][1], 0)
        site.config().write_text(
            site.config().read_text().replace(site.setting("conninfo"), remote)
        )
        done = site.setup("--no-start", "--user", USER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(site.tree()["pgpass"][1], pwd.getpwnam(USER).pw_uid)

    def test_a_password_in_the_config_goes_nowhere(self):
        site = self.site
        site.set_up()
        conninfo = site.setting("conninfo")
        site.config().write_text(
            site.config().read_text().replace(conninfo, conninfo + " password=geheim")
        )
        done = site.setup("--export-bundle", "-")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertNotIn("geheim", done.stderr)
        site.config().write_text(
            site.config().read_text().replace(f"host={site.database.data}", "host=db.example")
        )
        done = site.setup("--export-bundle", "-")
        self.refused(done, "store.conninfo: has a password, which everybody could read", 2)
        done = site.setup("--database", "host=x", "--no-start", "--user", USER)
        self.assertNotIn("geheim", done.stdout + done.stderr)
        self.refused(done, "password=***", 2)

    def test_a_person_is_asked(self):
        site = self.site
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        words = [*site.local()[1:], *site.ports()]
        process = subprocess.Popen(
            [str(programs() / "hai-server"), "--config", str(site.config()), "setup", *map(str, words)],
            stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
            env=site.environment(),
        )  # fmt: skip
        os.close(slave)
        os.write(master, b"water\n\nboss\n\n")  # cluster, database, administrator, nodes
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertIn("Name of the cluster [hai]: ", out)
        self.assertIn("[local]: ", out)
        self.assertEqual((site.setting("cluster"), site.setting("admin_user")), ("water", "boss"))

    def test_the_unit_is_started_where_systemd_is(self):
        site = self.site
        done, told, folder = site.as_machine(
            "hai-server", "setup", *[word for word in site.local() if word != "--no-start"],
            *site.ports(),
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        enabled = [line for line in told if line.startswith("enable")]
        self.assertEqual(enabled, ["enable --now hai-server.service", "enable --now hai-backup.timer"])
        self.assertIn("hai-server.service runs.", done.stdout)
        self.assertIn("hai-backup.timer dumps the database each day", done.stdout)
        self.assertTrue((folder / "server.yaml").exists())
        done, told, _ = site.as_machine(
            "hai-agent", "join", "localhost:1", "--token", "x", "--ca", folder / "ca/ca.crt",
            "--once", "--name", "n",
        )  # fmt: skip
        self.assertEqual((done.returncode, told), (1, []), "nothing is started that has not joined")

    def test_a_unit_that_is_not_installed_is_named(self):
        site = self.site
        words = [word for word in site.local() if word != "--no-start"]
        done, told, _ = site.as_machine("hai-server", "setup", *words, *site.ports(), load="not-found")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the unit hai-server.service is not-found: install its package", done.stderr)
        self.assertEqual([line for line in told if line.startswith("enable")], [])


if __name__ == "__main__":
    unittest.main()
