#!/usr/bin/python3
"""hai-store-setup: the files that it writes on each of three machines are those of ha-store.md's steps by
hand, and what is wrong is one sentence, before anything is written. Its backups are made when they are due,
by the primary."""

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEMPLATES = ROOT / "deploy" / "postgres"
PAGE = ROOT / "docs" / "operations" / "ha-store.md"
MEMBERS = {"db1": "10.9.0.1", "db2": "10.9.0.2", "db3": "10.9.0.3"}
WORDS = [f"{name}={address}" for name, address in MEMBERS.items()]
SECRET = "0123456789abcdef0123"


def by_hand(name, template):
    """Of a file that db1 has, what is this machine's; the list of members stays."""
    found = []
    for line in (TEMPLATES / template).read_text().splitlines():
        if not line.startswith("ETCD_INITIAL_CLUSTER="):
            line = line.replace("192.0.2.11", MEMBERS[name]).replace("=db1", f"={name}")
        for number, address in enumerate(MEMBERS.values(), start=11):
            line = line.replace(f"192.0.2.{number}", address)
        found.append(line)
    return "\n".join(found) + "\n"


class StoreSetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def run_on(self, name, *words, secret=SECRET, members=WORDS, network="10.9.0.0/24"):
        root = self.root / name
        root.mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, "-B", ROOT / "deploy/hai-store-setup", *members, "--network", network, "--name", name,
             "--here", "--root", root, "--templates", TEMPLATES, *words],
            input=secret, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def put(self, name, path, text):
        target = self.root / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def assert_refused(self, name, sentence, words=(), **change):
        before = self.files(name)
        done = self.run_on(name, *words, **change)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1), done)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(self.files(name), before, "nothing is changed")

    def files(self, name):
        return {str(path.relative_to(self.root / name)): path.read_text()
                for path in (self.root / name).rglob("*") if path.is_file()}  # fmt: skip

    def test_writes_what_the_steps_by_hand_write(self):
        secrets = {}
        for name in MEMBERS:
            done = self.run_on(name)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            found = self.files(name)
            self.assertEqual(len(found), 5, "and nothing else is left")
            self.assertEqual(found["etc/default/etcd"], by_hand(name, "etcd.default"))
            environment = re.sub("_PASSWORD=.*", "_PASSWORD=", found["etc/patroni_env.conf"])
            self.assertEqual(environment, by_hand(name, "patroni_env.conf"))
            listed = 'hosts: ["10.9.0.1:2379", "10.9.0.2:2379", "10.9.0.3:2379"]'
            self.assertIn(listed, found["etc/patroni/config.yml"])
            self.assertIn("- hostssl hai hai 10.9.0.0/24 scram-sha-256", found["etc/patroni/config.yml"])
            self.assertNotIn("192.0.2.", re.sub("(?m)^#.*", "", "".join(found.values())))
            self.assertEqual(found["etc/pgbackrest.conf"], (TEMPLATES / "pgbackrest.conf").read_text())
            modes = {path: (self.root / name / path).stat().st_mode & 0o777 for path in found}
            self.assertEqual((modes["etc/patroni_env.conf"], modes["etc/pgbackrest.conf"]), (0o600, 0o640))
            secrets[name] = re.findall("_PASSWORD=(.*)", found["etc/patroni_env.conf"])
        self.assertEqual(secrets["db1"], secrets["db3"], "they must know each other")
        self.assertEqual(len(set(secrets["db1"])), 3)
        self.assertNotIn(SECRET, "".join(self.files("db1").values()))

    def test_again_and_with_another_store(self):
        self.assertEqual(self.run_on("db2").returncode, 0)
        (self.root / "db2/var/lib/etcd/hai").mkdir(parents=True)
        # As an earlier version made it, and as its administrator has changed it since.
        for path, old, new in (
            ("etc/patroni_env.conf", "PATRONI_REPLICATION_SSLMODE=require\n", ""),
            ("etc/patroni/config.yml", "hostssl", "host"),
            ("etc/default/etcd", "=http:", "=https:"),
        ):
            text = self.files("db2")[path]
            self.assertIn(old, text)
            self.put("db2", path, text.replace(old, new))
        (self.root / "db2/etc/systemd/system/patroni.service.d/watchdog.conf").unlink()
        before = self.files("db2")
        self.assertEqual(self.run_on("db2").returncode, 0, "what was begun goes on")
        self.assertEqual(self.files("db2"), before, "and stays as it is")
        others = {"members": [*WORDS[:2], "db3=10.9.0.4"]}
        for change in ({"secret": "another secret of twenty"}, {"network": "10.0.0.0/8"}, others):
            refused = self.run_on("db2", **change)
            self.assertEqual((refused.returncode, len(refused.stderr.splitlines())), (1, 1), refused)
            self.assertIn("has another store already, and nothing was changed", refused.stderr)
            self.assertEqual(self.files("db2"), before)

    def harden(self, name, members=WORDS):
        """As the page has it, with a repository of the administrator's; returns the files."""
        self.assertEqual(self.run_on(name, members=members).returncode, 0)
        found = self.files(name)
        config = found["etc/patroni/config.yml"].replace(
            "/etc/ssl/certs/ssl-cert-snakeoil.pem", "/etc/postgresql-common/store.crt")  # fmt: skip
        environment = found["etc/patroni_env.conf"].replace(
            "REPLICATION_SSLMODE=require",
            "REPLICATION_SSLMODE=verify-full\nPATRONI_REPLICATION_SSLROOTCERT=/etc/postgresql-common/ca.crt")  # fmt: skip
        backups = "[global]\nrepo1-type=s3\nrepo1-cipher-pass=pass\n[hai]\npg1-path=/var/lib/postgresql/15/hai\n"
        for path, text in (("etc/patroni/config.yml", config), ("etc/patroni_env.conf", environment),
                           ("etc/pgbackrest.conf", backups)):  # fmt: skip
            self.put(name, path, text)
        return self.files(name)

    def test_one_that_replaces_a_lost_one_has_what_was_changed_since(self):
        members = [*WORDS[:2], "db3=10.9.0.33"]
        of_db1 = self.harden("db1", members)
        words = ("--join-existing",)
        named = ("etc/postgresql-common/store.crt", "etc/postgresql-common/ca.crt")
        for path in named:
            self.put("db3", path, "a certificate\n")
        for path in ("etc/patroni/config.yml", "etc/patroni_env.conf", "etc/pgbackrest.conf"):
            self.assert_refused("db3", f"/{path} is not here as the store has it", words=words, members=members)
            self.put("db3", path, of_db1[path])
        self.assert_refused("db3", "is not here as the store has it", words=words, members=members,
                            secret="another secret of twenty")  # fmt: skip
        for path in named:
            (self.root / "db3" / path).unlink()
            self.assert_refused("db3", f"names /{path}, which is not here", words=words, members=members)
            self.put("db3", path, "a certificate\n")
        (self.root / "db3/etc/patroni/config.yml").chmod(0o640)
        for again in (False, True):
            done = self.run_on("db3", *words, members=members)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"again: {again}")
            found = self.files("db3")
            for path in ("etc/patroni/config.yml", "etc/pgbackrest.conf"):
                self.assertEqual(found[path], of_db1[path])
            own = of_db1["etc/patroni_env.conf"].replace("=db1", "=db3").replace("10.9.0.1:", "10.9.0.33:")
            self.assertEqual(found["etc/patroni_env.conf"], own)
        self.assertEqual((self.root / "db3/etc/patroni/config.yml").stat().st_mode & 0o777, 0o640)

    def test_one_that_replaces_a_lost_one_joins_what_is_there(self):
        members = [*WORDS[:2], "db3=10.9.0.33"]
        self.assertEqual(self.run_on("db2", members=members).returncode, 0)
        for path in ("etc/patroni/config.yml", "etc/patroni_env.conf", "etc/pgbackrest.conf"):
            self.put("db3", path, self.files("db2")[path])
        done = self.run_on("db3", "--join-existing", members=members)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        found = self.files("db3")
        environment = found["etc/default/etcd"]
        self.assertRegex(environment, "(?m)^ETCD_INITIAL_CLUSTER_STATE=existing$")
        self.assertRegex(environment, "(?m)^ETCD_INITIAL_CLUSTER=.*,db3=http://10.9.0.33:2380$")
        self.assertNotIn("STATE=new", environment)
        (self.root / "db3/var/lib/etcd/hai").mkdir(parents=True)
        self.assertEqual(self.run_on("db3", "--join-existing", members=members).returncode, 0, "it goes on")
        # The others say of it what they would have said from the beginning, after the edit of ha-store.md.
        self.assertEqual(self.run_on("db1").returncode, 0)
        script = re.search("(?m)^sed -i -E '(s/.*?)'", PAGE.read_text()).group(1)
        script = script.replace("OLD", "10.9.0.3").replace("NEW", "10.9.0.33")
        edited = subprocess.run(["sed", "-E", script, self.root / "db1/etc/patroni/config.yml"], check=True,
                                capture_output=True, text=True).stdout  # fmt: skip
        self.assertEqual(edited, self.files("db2")["etc/patroni/config.yml"])
        alone = subprocess.run([sys.executable, "-B", ROOT / "deploy/hai-store-setup", *WORDS, "--network",
                                "10.9.0.0/24", "--join-existing"], capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(alone.returncode, 2)
        self.assertIn("--join-existing is for --here", alone.stderr)

    def test_what_is_served_by_the_same_programs_stays(self):
        for number, path in enumerate(
            ("etc/default/etcd", "etc/patroni/config.yml", "etc/patroni_env.conf", "etc/pgbackrest.conf",
             "etc/systemd/system/patroni.service.d/watchdog.conf")
        ):  # fmt: skip
            with self.subTest(path=path):
                name = f"db{number % 3 + 1}"
                self.put(name, path, "# of another service\n")
                self.assert_refused(name, f"/{path} is there with another text")
                (self.root / name / path).unlink()
        (self.root / "db2/var/lib/etcd/default/member").mkdir(parents=True)
        self.assert_refused("db2", "/var/lib/etcd/default is there: this machine's etcd serves something already")

    def test_a_file_as_its_package_brought_it_is_written_over(self):
        self.put("db1", "etc/default/etcd", "## etcd(1) daemon options\n")
        self.assert_refused("db1", "/etc/default/etcd is there with another text")
        came = hashlib.md5(b"## etcd(1) daemon options\n").hexdigest()
        self.put("db1", "var/lib/dpkg/status", f"""Package: etcd-server
Status: install ok installed
Maintainer: nobody <nobody@example.org>
Architecture: all
Version: 3.4
Conffiles:
 /etc/default/etcd {came}
Description: a package that was installed before
""")
        self.assertEqual(self.run_on("db1").returncode, 0)
        self.assertEqual(self.files("db1")["etc/default/etcd"], by_hand("db1", "etcd.default"))
        self.put("db2", "var/lib/dpkg/status", (self.root / "db1/var/lib/dpkg/status").read_text())
        self.put("db2", "etc/default/etcd", "## etcd(1) daemon options\nETCD_NAME=other\n")
        self.assert_refused("db2", "/etc/default/etcd is there with another text")

    def test_the_place_of_backups_is_the_administrators(self):
        own = "[global]\nrepo1-type=s3\n[hai]\npg1-path=/var/lib/postgresql/15/hai\n"
        self.put("db1", "etc/pgbackrest.conf", own)
        self.assertEqual(self.run_on("db1").returncode, 0)
        (self.root / "db1/var/lib/etcd/hai").mkdir(parents=True)
        self.assertEqual(self.run_on("db1").returncode, 0, "it makes no other store of this one")
        self.assertEqual(self.files("db1")["etc/pgbackrest.conf"], own)
        self.put("db2", "etc/pgbackrest.conf", "[other]\npg1-path=/var/lib/postgresql/15/other\n")
        self.assert_refused("db2", "One with a section [hai] is left as it is")

    def test_a_run_that_was_cut_off(self):
        """Between Debian's etcd and the last file; also by a line that was wrong, and is put right now."""
        in_the_way = self.root / "db3/etc/default/etcd.new"
        in_the_way.mkdir(parents=True)
        self.assertNotEqual(self.run_on("db3", network="10.0.0.0/8").returncode, 0)
        self.assertIn("etc/hai-store.begun", self.files("db3"))
        self.assertIn("10.0.0.0/8", self.files("db3")["etc/patroni/config.yml"])
        in_the_way.rmdir()
        (self.root / "db3/var/lib/etcd/default").mkdir(parents=True)
        self.put("db3", "etc/patroni_env.conf", "PATRONI_NAME=other\n")
        self.assert_refused("db3", "/etc/patroni_env.conf is there with another text")
        (self.root / "db3/etc/patroni_env.conf").unlink()
        done = self.run_on("db3")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("etc/hai-store.begun", self.files("db3"))
        self.assertNotIn("10.0.0.0/8", self.files("db3")["etc/patroni/config.yml"])

    def test_another_cluster_at_the_port_of_the_store_is_in_the_way(self):
        program = self.root / "pg_lsclusters"
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{self.root}:{os.environ['PATH']}"}):
            for version, name, port, is_refused in (
                ("15", "main", 5432, True), ("14", "old", 5432, True), ("14", "old", 5433, False),
                ("15", "hai", 5432, False),
            ):  # fmt: skip
                with self.subTest(version=version, name=name, port=port):
                    line = f"{version} {name} {port} online postgres /var/lib/postgresql/{version}/{name} /log"
                    program.write_text(f"#!/bin/sh\necho '{line}'\n")
                    program.chmod(0o755)
                    if is_refused:
                        self.assert_refused("db1", f"pg_dropcluster --stop {version} {name}")
                    else:
                        self.assertEqual(self.run_on("db1").returncode, 0)

    def test_addresses_of_ipv6(self):
        members = ["db1=2001:db8::1", "db2=2001:db8::2", "db3=2001:db8::3"]
        for again in (False, True):
            done = self.run_on("db2", members=members, network="2001:db8::/64")
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"again: {again}")
            (self.root / "db2/var/lib/etcd/hai").mkdir(parents=True, exist_ok=True)
        found = self.files("db2")
        config = yaml.safe_load(found["etc/patroni/config.yml"])
        self.assertEqual(config["etcd"]["hosts"], [f"[2001:db8::{number}]:2379" for number in (1, 2, 3)])
        self.assertIn("hostssl hai hai 2001:db8::/64 scram-sha-256", config["postgresql"]["pg_hba"])
        self.assertIn("PATRONI_POSTGRESQL_LISTEN=[2001:db8::2]:5432\n", found["etc/patroni_env.conf"])
        self.assertIn(",db3=http://[2001:db8::3]:2380\n", found["etc/default/etcd"])

    def test_the_page_gives_patronictl_its_password(self):
        found = re.findall("[^`\\n]*patronictl [^`\\n]*(?:switchover|reinit) [^`\\n]*", PAGE.read_text())
        self.assertEqual(len(found), 2)
        for command in found:
            self.assertTrue(command.startswith("set -a; . /etc/patroni_env.conf; set +a; patronictl"), command)

    def test_what_is_wrong_is_one_sentence_and_writes_nothing(self):
        for change, sentence in (
            ({"secret": "short"}, "standard input must have one line of 16 characters or more"),
            ({"members": WORDS[:2]}, "name the 3 machines as NAME=ADDRESS, not 2"),
            ({"members": [*WORDS[:2], "db3=10.9.0.2"]}, "db3=10.9.0.2: is there twice"),
            ({"members": [*WORDS[:2], "db3=db3.example"]}, "db3.example is no IP address"),
            ({"members": ["other=10.9.0.9", *WORDS[1:]]}, "this machine is db1, and none of other, db2, db3"),
            ({"network": "10.9.0.1/24"}, "--network: 10.9.0.1/24 has host bits set"),
        ):
            with self.subTest(sentence=sentence):
                done = self.run_on("db1", **change)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1), done)
                self.assertIn(sentence, done.stderr)
                self.assertEqual(self.files("db1"), {})


DAY = 86_400
# Instead of a store: they note what pgBackRest is told, and answer as the test wants.
FAKES = {
    "runuser": 'shift 3; exec "$@"',
    "psql": 'case "$*" in *system_identifier*) echo 77 ;; *) cat > /dev/null; cat "$FAKES/in-recovery" ;; esac',
    "pgbackrest": 'echo "$*" >> "$FAKES/told"; case "$*" in *info*) cat "$FAKES/info" ;; *repo-put*) exit "$(cat '
                  '"$FAKES/put")" ;; esac',
    "install": 'echo "install $*" >> "$FAKES/told"',
    "systemctl": 'echo "systemctl $*" >> "$FAKES/told"',
}


REACHES = ["--output=json info", *(f"--repo=1 {act} archive/hai/{os.uname().nodename}.probe"
                                   for act in ("repo-put", "repo-rm"))]  # fmt: skip


class BackupTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        loader = importlib.machinery.SourceFileLoader("hai_store_setup", str(ROOT / "deploy/hai-store-setup"))
        cls.program = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(cls.program)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, script in FAKES.items():
            (self.folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (self.folder / name).chmod(0o755)
        (self.folder / "in-recovery").write_text("f\n")
        (self.folder / "put").write_text("0")
        self.there_are()
        changed = {"FAKES": str(self.folder), "PATH": f"{self.folder}:{os.environ['PATH']}"}
        self.enterContext(unittest.mock.patch.dict(os.environ, changed))

    def there_are(self, *backups):
        """(type, age in seconds) each."""
        found = [{"type": kind, "timestamp": {"start": int(time.time() - age)}} for kind, age in backups]
        self.says(backup=found)

    def says(self, code=0, system=77, **more):
        """What `pgbackrest info` tells of the repository."""
        stanza = {"name": "hai", "status": {"code": code}, "db": [{"system-id": system}], "repo": [{"key": 1}], **more}
        (self.folder / "info").write_text(json.dumps([stanza]))

    def told(self, act, *words):
        (self.folder / "told").write_text("")
        act(*words)
        return [line.removeprefix("--stanza=hai ") for line in (self.folder / "told").read_text().splitlines()]

    def test_a_new_store_has_a_backup(self):
        said = self.told(self.program.create, SECRET)
        self.assertEqual(said, ["stanza-create", "check", "--output=json info", "--type=full backup"])

    def test_a_full_one_each_week_and_each_day_what_differs(self):
        back_up = self.program.back_up
        for backups, made in (
            ((), ["--type=full backup"]),
            ((("full", DAY / 2),), []),
            ((("full", DAY - 600),), ["--type=diff backup"]),
            ((("full", 3 * DAY), ("diff", DAY / 2)), []),
            ((("full", 3 * DAY), ("diff", 2 * DAY)), ["--type=diff backup"]),
            ((("full", 7 * DAY - 600), ("diff", DAY / 2)), ["--type=full backup"]),
        ):
            with self.subTest(backups=backups):
                self.there_are(*backups)
                self.assertEqual(self.told(back_up), ["--output=json info", *made])

    def test_only_the_primary_makes_them(self):
        for answer, made in (("t\n", REACHES), ("", [])):  # it follows; PostgreSQL does not run
            (self.folder / "in-recovery").write_text(answer)
            self.assertEqual(self.told(self.program.back_up), made)

    def test_one_that_follows_must_reach_the_repository_of_this_store_and_write_to_it(self):
        (self.folder / "in-recovery").write_text("t\n")
        for change, put in (({"code": 1}, 0), ({"db": []}, 0), ({"system": 78}, 0), ({}, 41)):
            with self.subTest(change=change, put=put):
                self.says(**change)
                (self.folder / "put").write_text(str(put))
                with self.assertRaisesRegex(self.program.Failure, "its disk would be filled: mount the repository"):
                    self.program.back_up()

    def test_the_set_up_asks_those_that_follow(self):
        options = types.SimpleNamespace(name="db1", members=WORDS)
        asked = []
        changes = {
            "set_up": lambda *_: None, "kept_secret": lambda: SECRET, "wait_whole": lambda _: "db2",
            "there": lambda address, script, **_: asked.append((address, script)),
            "back_up": lambda: asked.append("here"),
        }  # fmt: skip
        with unittest.mock.patch.multiple(self.program, **changes), contextlib.redirect_stdout(io.StringIO()):
            self.program.set_up_all(options, MEMBERS, "10.9.0.0/24")
        self.assertEqual(asked[-3:], [("10.9.0.2", "hai-store-setup --create > /dev/null"), "here",
                                      ("10.9.0.3", "hai-store-setup --backup")])  # fmt: skip

    def test_the_folder_of_data_is_left_to_patroni(self):
        said = self.told(self.program.start)
        self.assertEqual(said[0], "install -d -o postgres -g postgres /var/lib/postgresql/15")
        self.assertEqual(said[-1], f"systemctl enable --now {self.program.BACKUP_TIMER}")

    def test_the_timer_is_in_the_package_and_runs_it(self):
        units = ROOT / "deploy" / "systemd"
        timer = self.program.BACKUP_TIMER
        self.assertIn(timer, (ROOT / "deploy/debian/rules").read_text())
        self.assertIn("OnCalendar=hourly", (units / timer).read_text())
        service = (units / timer.replace(".timer", ".service")).read_text()
        self.assertIn("ExecStart=/usr/bin/hai-store-setup --backup\n", service)


if __name__ == "__main__":
    unittest.main()
