"""What a setup must tell apart: two foundings at once on one database, another cluster of the same name that
root has signed in at, and whom the server runs as."""

import concurrent.futures
import json
import re
import subprocess
import unittest

from bare_site import USER, SiteTest
from cluster import eventually, programs
from servers import postgres_folder

# Of a root who has signed in at another cluster fire: that one would answer what names no context.
FAKE_HAI = """#!/bin/sh
echo "$@" >> "$0.log"
case "$*" in
  "context list -o json") echo '[{"name": "fire", "servers": ["a.example:7700"]}]' ;;
  *"node token create"*) echo "hai-agent join a.example:7700 --token x" ;;
  *whoami) [ "$1" != --context ] ;;
esac
"""


class FoundingTest(SiteTest):
    def test_of_two_at_once_one_gets_the_database(self):
        site = self.site
        sql = site.database.sql
        sql(f"CREATE ROLE {USER} LOGIN")
        sql(f"CREATE DATABASE hai OWNER {USER}")

        def locks(granted):
            return sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2028"
                       f" AND granted = {granted}", "hai")  # fmt: skip

        # Both have found it empty before either may claim it.
        words = ["-h", site.database.data, "-U", "postgres", "-d", "hai", "-c",
                 "SELECT pg_advisory_lock(68656973, 2028), pg_sleep(300)"]  # fmt: skip
        holder = subprocess.Popen(
            [str(postgres_folder() / "psql"), *map(str, words)], user="postgres", cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        eventually("it is locked", lambda: locks("true") == "1")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = {name: pool.submit(site.setup, *site.local(), "--cluster", name, *site.ports(), name=name)
                    for name in ("one", "two")}  # fmt: skip
            eventually("both wait", lambda: locks("false") == "2", 30)
            sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                " AND objid = 2028 AND granted", "hai")  # fmt: skip
            done = {name: run.result() for name, run in runs.items()}
        won, lost = sorted(done, key=lambda name: done[name].returncode)
        self.assertEqual(done[won].returncode, 0, done[won].stderr)
        self.refused(done[lost], f"the database belongs to another cluster, {won}: name another database")
        self.assertFalse(site.folder(lost).exists())
        mark = sql("SELECT obj_description('schema_migration'::regclass)", "hai")
        self.assertEqual(mark, f"hai cluster {(site.folder(won) / 'cluster.id').read_text().strip()} {won}")

    def test_root_is_signed_in_beside_another_cluster_of_the_same_name(self):
        site = self.site
        folder = site.root / "bin"
        folder.mkdir()
        for name, text in (("hai", FAKE_HAI), ("ssh", "#!/bin/sh\ncat > /dev/null\n")):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        # Founded, run again, and given a further server, whose setup is not what is looked at.
        script = f"""
set -e
export PATH="{folder}:$PATH"
"$0" setup "$@" --cluster fire --nodes 'node-[1-2]' --no-backup
"$0" setup --user {USER}
"$0" setup --user {USER} --nodes 'node-[1-2]'
echo 'hai:x:64997:64997::/nonexistent:/bin/false' >> /etc/passwd
"$0" setup --add-server root@server-2 --database 'host=db.example dbname=hai user=hai' --nodes 'node-[1-2]'
"""
        words = [word for word in site.local() if word != "--no-start"]
        done, told, etc = site.as_machine("/bin/sh", "-c", script, programs() / "hai-server", *words, *site.ports())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("enable --now hai-server.service", told)
        self.assertNotIn("enable --now hai-backup.timer", told)
        self.assertIn("\n  systemctl enable --now hai-backup.timer\n", done.stdout)
        first = re.search(r'grpc: "(localhost:\d+)"', (etc / "server.yaml").read_text())[1]
        second = first.replace("localhost", "server-2")
        ca = "--ca /etc/hai/ca/ca.crt --name fire-2"
        look = ["--version", "context list -o json"]
        token = "--context fire-2 node token create node-[1-2] --ttl 24h --uses 2"
        self.assertEqual(
            (folder / "hai.log").read_text().splitlines(),
            [*look, f"init - --url https://{first} {ca}", token,
             *look,
             *look, "--context fire-2 whoami", f"init - --url https://{first} {ca}", token,
             *look, f"init - --url https://{first} --url https://{second} {ca}", token],
        )  # fmt: skip
        where = ", by the context fire-2 (fire has none of these addresses).\n"
        self.assertIn("`hai` works here" + where, done.stdout)
        self.assertIn("asks it as well" + where, done.stdout)

    def test_a_founding_that_failed_is_one_when_it_is_run_again(self):
        site = self.site
        folder = site.root / "bin"
        folder.mkdir()
        # The unit does not start, for its port is taken, say.
        (folder / "systemctl").write_text('#!/bin/sh\n[ "$1" = show ] && echo LoadState=loaded\n')
        (folder / "systemctl").chmod(0o755)
        script = f"""
set -e
! PATH="{folder}:$PATH" "$0" setup "$@" > /dev/null
test -e /etc/hai/setup.unfinished
"$0" setup --user {USER}
"$0" setup --user {USER} >&2
"""
        words = [word for word in site.local() if word != "--no-start"]
        done, told, etc = site.as_machine("/bin/sh", "-c", script, programs() / "hai-server", *words, *site.ports())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(told.count("enable --now hai-backup.timer"), 1, told)
        self.assertIn("hai-backup.timer dumps the database each day", done.stdout)
        self.assertIn((etc / "admin.token").read_text(), done.stdout)
        self.assertIn("hai-agent join ", done.stdout)
        self.assertNotIn("shown this once", done.stderr, "of the third run")
        self.assertFalse((etc / "setup.unfinished").exists())

    def test_a_postgresql_that_was_made_anew_gets_the_password_again(self):
        site = self.site
        rules = site.database.data / "main/pg_hba.conf"
        self.addCleanup(rules.write_text, rules.read_text())
        password = f"SELECT coalesce(rolpassword, 'none') FROM pg_authid WHERE rolname = '{USER}'"
        # The private PostgreSQL listens to nobody and is no unit, which is found out last.
        script = f"""
set -e
"$0" setup "$@"
echo 'hai:x:64997:64997::/nonexistent:/bin/false' >> /etc/passwd
echo '192.0.2.12 server-2' >> /etc/hosts
! "$0" setup --add-server root@server-2
cp /etc/hai/pgpass /etc/hai/pgpass.first
cp {site.database.data}/main/hai.pem /etc/hai/hai.pem.first
setpriv --reuid postgres --regid postgres --clear-groups {postgres_folder() / "psql"} -d postgres -qAt \\
  -h {site.database.data} -c "ALTER ROLE {USER} PASSWORD NULL" -c "{password}"
! "$0" setup --add-server root@server-2
"""
        done, _, etc = site.as_machine(
            "/bin/sh", "-c", script, programs() / "hai-server", *site.local(), *site.ports()
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("PostgreSQL listens to this machine only"), 2, done.stderr)
        self.assertIn("\nnone\n", done.stdout)
        self.assertTrue(site.database.sql(password).startswith("SCRAM-SHA-256"))
        self.assertEqual((etc / "pgpass").read_text(), (etc / "pgpass.first").read_text())
        # It speaks TLS to others, by a certificate of the cluster's CA, and nothing else.
        self.assertEqual(rules.read_text().count("\nhostssl hai "), 1, rules.read_text())
        self.assertNotIn("\nhost hai ", rules.read_text())
        eventually("it has TLS", lambda: site.database.sql("SHOW ssl") == "on", 30)
        pair = site.database.data / "main/hai.pem"
        self.assertEqual((pair.stat().st_mode & 0o777, pair.owner()), (0o600, "postgres"))
        self.assertEqual(pair.read_text(), (etc / "hai.pem.first").read_text(), "nobody is cut off by a second run")
        self.assertTrue(pair.read_text().endswith((etc / "ca/postgresql.crt").read_text()))
        self.assertIn("by which PostgreSQL proves who it is, is in its data directory", done.stderr)
        check = ["openssl", "verify", "-CAfile", etc / "ca/ca.crt", "-purpose", "sslserver",
                 "-verify_hostname", "localhost", pair]  # fmt: skip
        verified = subprocess.run(check, capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_a_doctor_looks_as_the_servers_user(self):
        site = self.site
        site.set_up()
        words = ["--config", site.config(), "doctor", "--user", "no-such-user"]
        done = site.program("hai-server", *words)
        self.refused(done, "--user: this machine has no user no-such-user", 2)

        def database_as(load):
            site.clean()
            done, _, _ = site.as_machine(
                "/bin/sh", "-c", '"$0" setup "$@" > /dev/null && "$0" doctor -o json',
                programs() / "hai-server", *site.local(), *site.ports(), load=load,
            )  # fmt: skip
            found = {each["verdict"] for each in json.loads(done.stdout) if each["check"] == "database"}
            return "fail" if "fail" in found else "ok"

        # PostgreSQL knows the role by its Unix user alone.
        self.assertEqual(database_as("loaded"), "fail")
        self.assertEqual(database_as(f"loaded\nUser={USER}"), "ok")


if __name__ == "__main__":
    unittest.main()
