"""People of an LDAP directory: their groups here are those of the directory, they come in without a
token, and their jobs run with their Unix groups. A real slapd, asked by the machine's name service."""

import json
import os
import subprocess
import unittest

import ldap_directory
from cluster import eventually, programs, said
from people_test import PeopleServers, start_munged
from servers import ServersTest

PEOPLE, VISION, SPEECH, OPERATORS = 20000, 20101, 20102, 20103
ANN, LENA, OLGA = 20001, 20002, 20003
CONFIG = """
munge: "{socket}"
munge_create_users: true
unix_groups: {{groups: ["proj-*"], operator_groups: [hai-ops], every: 1s}}
"""


@unittest.skipIf(ldap_directory.missing(), ldap_directory.missing())
class LdapTest(ServersTest):
    @classmethod
    def make(cls):
        return PeopleServers(count=1, nodes=1)

    @classmethod
    def prepare(cls):
        cluster = cls.cluster
        cls.directory = ldap_directory.Directory(cluster.root / "ldap", [("lena", LENA)])
        cls.addClassCleanup(cls.directory.close)
        cls.directory.start()
        cls.directory.add_group("people", PEOPLE)
        cls.directory.add_group("proj-vision", VISION, ["ann", "lena"])
        cls.directory.add_group("proj-speech", SPEECH)
        cls.directory.add_group("hai-ops", OPERATORS)
        cls.directory.add_user("ann", ANN, PEOPLE)
        socket = start_munged(cls, cluster.root / "munge")
        cluster.more_config = CONFIG.format(socket=socket)
        cls.homes = {}
        for name, uid in (("ann", ANN), ("lena", LENA)):
            home = cls.homes[name] = cluster.root / name
            home.mkdir()
            os.chown(home, uid, PEOPLE)
        cls.socket = socket

    def hai(self, name, uid, *words):
        """Runs `hai` as one of the directory, who has no token."""
        home = self.homes[name]
        done = subprocess.run(
            [str(programs() / "hai"), *map(str, words)],
            user=uid, group=PEOPLE, extra_groups=[], cwd=home, capture_output=True, text=True,
            timeout=90, check=False,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def come_in(self, name, uid):
        url = f"grpc://127.0.0.1:{self.cluster.servers[0].grpc}"
        self.hai(name, uid, "init", "--munge", "--munge-socket", self.socket, "--url", url)
        return self.hai(name, uid, "whoami")

    def account(self, name):
        users = {user["name"]: user for user in self.cluster.json("user", "list")}
        return users[name]["role"], users[name]["groups"]

    def becomes(self, name, role, groups):
        what = f"{name} is {role} in {groups}"
        eventually(what, lambda: self.account(name) == (role, groups))

    def test_groups_follow_the_directory(self):
        self.assertIn("ann (user)", self.come_in("ann", ANN))
        self.assertEqual(self.account("ann"), ("user", ["proj-vision"]), "and not in people")
        self.directory.set_member("proj-speech", "ann", True)
        self.directory.set_member("proj-vision", "ann", False)
        self.becomes("ann", "user", ["proj-speech"])
        self.directory.set_member("hai-ops", "ann", True)
        self.becomes("ann", "operator", ["proj-speech"])
        self.directory.set_member("hai-ops", "ann", False)
        self.becomes("ann", "user", ["proj-speech"])
        self.directory.set_member("proj-vision", "ann", True)
        self.directory.set_member("proj-speech", "ann", False)
        self.becomes("ann", "user", ["proj-vision"])

    def test_who_has_no_account_any_more_keeps_no_role(self):
        self.directory.add_user("olga", OLGA, PEOPLE)
        for group in ("hai-ops", "proj-vision"):
            self.directory.set_member(group, "olga", True)
        self.cluster.ok("user", "set", "olga", "--groups", "by-hand")
        self.becomes("olga", "operator", ["by-hand", "proj-vision"])
        self.directory.remove_user("olga")  # as people are let go: she stands in the groups still
        self.becomes("olga", "user", ["by-hand"])
        log = self.cluster.servers[0].log
        eventually("the log names her once",
                   lambda: log.read_text().count("unix_account_gone user=olga") == 1)

    def test_a_job_runs_with_its_submitters_groups(self):
        self.come_in("ann", ANN)
        words = ["exec", "/bin/sh", "-c", "id -un; id -gn; id -Gn", "--", "-o", "json"]
        job = json.loads(self.hai("ann", ANN, *words))["id"]
        self.cluster.wait_end(job)
        user, group, groups = said(self.cluster.ok("logs", job)).splitlines()[:3]
        self.assertEqual((user, group), ("ann", "people"))
        self.assertLessEqual({"people", "proj-vision"}, set(groups.split()))

    def test_nothing_changes_while_the_directory_is_away(self):
        """Lena has an account of this machine: it is only her groups that the directory knows."""
        self.assertIn("lena (user)", self.come_in("lena", LENA))
        self.come_in("ann", ANN)
        log = self.cluster.servers[0].log
        before = {name: self.account(name) for name in ("ann", "lena")}
        self.assertEqual(before["lena"], ("user", ["proj-vision"]))
        self.directory.stop_slapd()
        try:
            seen = log.read_text().count("unix_groups_unknown")
            eventually("several looks were in vain",
                       lambda: log.read_text().count("unix_groups_unknown") > seen + 2)
            self.assertEqual({name: self.account(name) for name in before}, before)
            self.assertIn("lena (user)", self.come_in("lena", LENA), "she comes in meanwhile")
            self.assertEqual(self.account("lena"), before["lena"])
        finally:
            self.directory.start_slapd()
        self.directory.set_member("proj-speech", "lena", True)
        self.becomes("lena", "user", ["proj-vision", "proj-speech"])
        self.directory.set_member("proj-speech", "lena", False)
        self.becomes("lena", "user", ["proj-vision"])


if __name__ == "__main__":
    unittest.main()
