#!/usr/bin/python3
"""Whether the site tests run the commands of docs/operations, and all of them: plays their installing to
machines that only note what they are told, and compares it with the pages, both ways. The machines
of run.sh then show that the commands work."""

import pathlib
import re
import sys
import tempfile
import types
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / "e2e" / part) for part in ("chaos", "ha_store"))]

import doc  # noqa: E402
import install  # noqa: E402
import machines  # noqa: E402
import site_faults  # noqa: E402
import site_restore  # noqa: E402
import small  # noqa: E402

# What a reader puts his own words for.
EXAMPLES = ("ADDRESS-1", "ADDRESS-2", "ADDRESS-3", "NETWORK", "PASSWORD", "SERVER", "VERSION ...", "1250",
            "repository.example/hai", "host=db1,db2,db3 ", "host=db1,db2 ", "db1", "192.0.2.11",
            "2026-11-24T10:00:00Z")  # fmt: skip

BY_HAND = (
    "install -d ", "install -D ", "install -m 600 patroni_env", "install -m 644 ", "install -m 640 ",
    "echo 'create_main_cluster", "apt-get install postgresql-15", "systemctl stop etcd patroni", "cd /usr/share/doc",
    "sed -i 's/192", "systemctl daemon-reload", "systemctl enable --now etcd", "runuser -u postgres -- psql -c",
    "runuser -u postgres -- createdb", "runuser -u postgres -- pgbackrest --stanza=hai stanza-create",
    "runuser -u postgres -- pgbackrest --stanza=hai check", "systemctl enable --now hai-store-backup.timer",
    "hai-store-setup --backup",
)  # fmt: skip

# Documented, and not what these machines are told: why.
ELSEWHERE = {
    "install.md": {
        "deploy/install_packages.sh --tests": "on the machine that builds",
        "deploy/package.sh OUT": "run.sh, by deploy/package_tree.sh",
        "cd OUT && apt-ftparchive packages . > Packages": "run.sh, with its cache",
        "systemctl enable --now hai-server": "hai-server setup does it",
        "export BUILD=": "deploy/package_test.sh looks at the packages",
        "git clone . ../other": "as above",
        "deploy/package.sh ../one": "as above",
        "(umask 0002;": "as above",
        "for file in ../one/*.deb": "as above",
    },
    "setup.md": {
        "hai-server setup --export-bundle -": "for who has no ssh; --add-server gives the same to the same",
        "ssh root@server-2": "as above",
        "hai drain OLD": "small.py's rename() reads this block; it needs a job to drain",
        "ssh root@OLD": "as above",
        "hai node remove OLD": "as above",
        "hai node token create NEW": "as above",
    },
    "ha-store.md": {
        **dict.fromkeys(BY_HAND, "hai-store-setup does it; tests/packages/store_setup_test.py compares"),
        "set -a; . /etc/patroni_env.conf": "who follows whom is asked of Patroni itself",
        "patronictl -c /etc/patroni/config.yml list hai": "as above",
        "etcdctl --endpoints": "no machine of the store is replaced here; store_setup_test.py looks at the files",
        "ssh root@db3": "as above",
        "tar -C / -c": "as above",
        "sed -i -E 's/\\bOLD": "as above",
        "systemctl reload patroni": "as above",
    },
    "upgrade.md": {
        "hai nodes -o json": "what is installed is asked of dpkg",
    },
}


def commands(page):
    """The lines of the page's shell blocks, without what explains them."""
    for block in doc.blocks(page):
        for line in block.splitlines():
            words = re.split(r"\s+#", line)[0].rstrip(" |").strip()
            if words and not words.startswith("#"):
                yield words


def pattern_of(command):
    """For `command` with any words in place of the examples'."""
    found = re.escape(command)
    for example in EXAMPLES:
        found = found.replace(re.escape(example), r".*?")
    return re.compile(found)


class Noting:
    """A machine that is told things, and answers as one on which all goes well."""

    ANSWERS = (
        ("hai-store-setup db1", "0123"),
        ("--add-server", "is set up. hai-server.service runs.\n  hai-agent join server-1:7700,server-2:7700 --token hai_0 "
         "--ca-fingerprint sha256:0\n  hai init - --url https://server-1:7700\n"),
        ("hai-server setup", "is set up. hai-server.service runs."),
        ("grep -c '^hostssl hai hai'", "1"),
        ("pg_stat_ssl", "t"),
        ("token create", '{"secret": "hai_0123"} hai_0123'),
        ("systemctl show", "inactive"),
        ("hai doctor", "ok    server  port ok    client  server"),
        ("dpkg-query", "1.0~test2"),
        ("--stanza=hai info", "full backup: 20261128-190000F"),
        ("hai-agent join", "hai-agent.service runs, and starts with the machine"),
    )

    def __init__(self, site, name, folder):
        self.site, self.name, self.address = site, name, f"10.0.0.{len(site.machines) + 1}"
        self.root = folder / name
        self.write("etc/hai/admin.token", "hai_0")
        self.write("etc/hai/ca/ca.crt", "a certificate")
        self.write("etc/hai/agent.yaml", "")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def run(self, script, **_):
        self.site.noted.append(script)
        said = next((answer for mark, answer in self.ANSWERS if mark in script), "")
        if self.name == small.OTHER and said == "inactive":
            said = "active"  # it is looked at after it was added
        return types.SimpleNamespace(stdout=said, stderr="", returncode=0)

    def says(self, script, **options):
        return self.run(script, **options).stdout.strip()


class Site:
    """As much of Machines as installing needs."""

    hai = small.Site.hai
    everywhere = small.Site.everywhere
    server = small.Site.server
    nodes = small.Site.nodes

    def __init__(self, folder, names):
        self.noted, self.machines = [], {}
        for name in names:
            self.machines[name] = Noting(self, name, folder)
        self.network = types.SimpleNamespace(address=lambda name: "10.0.0.99")
        self.old = self.new = pathlib.Path("1.0~test2")

    def __getitem__(self, name):
        return self.machines[name]

    def wait_up(self, _):
        pass

    def publish(self, _):
        pass

    def leader(self):
        return install.SERVERS[0]

    def is_told_the_repository(self):
        machines.Machines.tell_repository(self, ("10.0.0.99", 8000))


def play_small(folder):
    site = Site(folder, [small.SERVER, small.OTHER, *small.NODES])
    site.is_told_the_repository()
    small.install(site)
    small.set_up(site)
    small.join(site)
    return site.noted


def play_ten(folder):
    site = Site(folder, [*install.STORES, *install.SERVERS, *install.NODES, "login"])
    site.is_told_the_repository()
    install.install(site, lambda _: None)
    site_faults.upgrade(site)
    site_faults.go_back(site)
    site[install.STORES[0]].run(site_restore.full_backup())
    site_restore.build_again(site, "2026-01-01")
    return site.noted


class DocumentedCommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        no_wait = lambda *_, **__: True  # noqa: E731  # nothing has to happen first
        for module in (small, install, site_restore):
            cls.enterClassContext(unittest.mock.patch.object(module, "wait", no_wait))
        for module in (install, site_restore, site_faults):
            leads = lambda _: install.STORES[0]  # noqa: E731
            cls.enterClassContext(unittest.mock.patch.object(module, "store_leader", leads))
        root = pathlib.Path(folder.name)
        cls.noted = play_small(root / "small") + play_ten(root / "ten")

    def test_each_command_of_the_pages_is_run(self):
        text = "\n".join(self.noted)
        for page, elsewhere in ELSEWHERE.items():
            found = list(commands(page))
            self.assertGreater(len(found), 2, page)
            for command in found:
                reason = next((why for begin, why in elsewhere.items() if command.startswith(begin)), None)
                with self.subTest(page=page, command=command):
                    is_run = bool(pattern_of(command).search(text))
                    self.assertTrue(is_run or reason, "documented, and no site test runs it")
                    self.assertFalse(is_run and reason, f"is run, and ELSEWHERE says: {reason}")
            for begin in elsewhere:
                with self.subTest(page=page, begin=begin):
                    self.assertTrue(any(command.startswith(begin) for command in found),
                                    "ELSEWHERE names it, and the page does not")  # fmt: skip

    def test_nothing_is_installed_by_other_commands_than_those_of_the_pages(self):
        pages = "\n".join(path.read_text() for path in doc.OPERATIONS.glob("*.md"))
        words = ("apt-get", "hai-server", "hai-agent", "hai-backup", "hai", "patronictl")
        lines = {line.strip() for script in self.noted for line in script.splitlines()}
        seen = 0
        for line in lines:
            for command in re.split(r"; |\s*\|\s*", line):
                found = re.match(rf"(?:{'|'.join(words)}) [a-z][a-z-]*(?: [a-z][a-z-]*(?![^ ]))?", command)
                if found is None:
                    continue
                seen += 1
                with self.subTest(command=command):
                    self.assertTrue(found.group() in pages, "run by a site test, and on no page")
        self.assertGreater(seen, 15)

    def test_what_setup_md_numbers_is_run(self):
        text = "\n".join(self.noted)
        for number in (1, 2, 3, 5):
            command = doc.step(number)
            with self.subTest(command=command):
                self.assertRegex(text, pattern_of(command))

    def test_a_node_joins_by_the_documented_line_alone(self):
        whole = re.escape(doc.step(4)).replace("\u2026", r"\S+").replace("SERVER", r"\S+")
        self.assertRegex("\n".join(self.noted), rf"(?m)^cd; {whole}$")

    def test_an_upgrade_is_of_every_package(self):
        control = (ROOT / "deploy" / "debian" / "control.in").read_text()
        packages = re.findall("^Package: (.*)$", control, re.M)
        self.assertGreater(len(packages), 4)
        words = doc.upgrade_commands()["packages"].split("--only-upgrade ")[1].split()
        self.assertEqual(sorted(words), sorted(packages))

    def test_without_libfaketime_the_faults_of_clocks_are_named(self):
        for library, why in ((None, "no libfaketime"), (ROOT, "")):
            with unittest.mock.patch.object(site_faults, "LIBRARY", library):
                found = [fault.skipped for fault in site_faults.clock_faults()]
            self.assertEqual(found, [why] * 4)


if __name__ == "__main__":
    unittest.main()
