#!/usr/bin/python3
"""hai-store-setup: the files that it writes on each of three machines are those of ha-store.md's steps by
hand, and what is wrong is one sentence, before anything is written."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEMPLATES = ROOT / "deploy" / "postgres"
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

    def files(self, name):
        return {str(path.relative_to(self.root / name)): path.read_text()
                for path in (self.root / name).rglob("*") if path.is_file()}  # fmt: skip

    def test_writes_what_the_steps_by_hand_write(self):
        secrets = {}
        for name in MEMBERS:
            done = self.run_on(name)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            found = self.files(name)
            self.assertEqual(found["etc/default/etcd"], by_hand(name, "etcd.default"))
            environment = re.sub("_PASSWORD=.*", "_PASSWORD=", found["etc/patroni_env.conf"])
            self.assertEqual(environment, by_hand(name, "patroni_env.conf"))
            self.assertIn("hosts: [10.9.0.1:2379, 10.9.0.2:2379, 10.9.0.3:2379]", found["etc/patroni/config.yml"])
            self.assertIn("- host hai hai 10.9.0.0/24 scram-sha-256", found["etc/patroni/config.yml"])
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
        before = self.files("db2")
        self.assertEqual(self.run_on("db2").returncode, 0, "what was begun goes on")
        for change in ({"secret": "another secret of twenty"}, {"network": "10.0.0.0/8"}):
            refused = self.run_on("db2", **change)
            self.assertEqual((refused.returncode, len(refused.stderr.splitlines())), (1, 1), refused)
            self.assertIn("has another store already, and nothing was changed", refused.stderr)
            self.assertEqual(self.files("db2"), before)

    def test_debians_own_cluster_is_in_the_way(self):
        (self.root / "db1/var/lib/postgresql/15/main").mkdir(parents=True)
        refused = self.run_on("db1")
        self.assertEqual((refused.returncode, len(refused.stderr.splitlines())), (1, 1), refused)
        self.assertIn("pg_dropcluster --stop 15 main", refused.stderr)
        self.assertEqual(self.files("db1"), {})

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


if __name__ == "__main__":
    unittest.main()
