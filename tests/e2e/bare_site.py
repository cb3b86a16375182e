"""A machine on which a cluster is set up as an operator does it: a PostgreSQL of its own that knows people
by their Unix users, a folder that stands for /etc/hai, and the programs run with it."""

import os
import re
import shutil
import stat
import subprocess
import unittest

from cluster import Cluster, eventually, programs
from servers import Database, free_port

USER = "nobody"  # stands for the package's user hai
FAKE_SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$SYSTEMCTL_LOG"
case "$1" in
  show) printf 'LoadState=%s\\nUnitFileState=disabled\\nActiveState=inactive\\n' "${UNIT_LOAD:-loaded}" ;;
esac
"""
# Mounts of its own, in which systemd seems to run the machine and /etc may be written.
AS_MACHINE = """
set -e
cp -a /etc "$MACHINE/etc" && mkdir -p "$MACHINE/etc/hai" && mount --bind "$MACHINE/etc" /etc
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system
exec "$@"
"""


class Site(Cluster):
    """Its `hai` has a context once somebody has run `hai init`."""

    def __init__(self):
        super().__init__(name="site")
        self.database = Database(self.root, administrator="postgres", method="peer")
        self.database.start()
        self.started = []

    def clean(self):
        """A bare machine again: nothing runs but PostgreSQL, which has no database and no role."""
        for process in self.started:
            process.kill()
            process.wait()
        self.started.clear()
        self.database.sql("DROP DATABASE IF EXISTS hai WITH (FORCE)")
        self.database.sql(f"DROP ROLE IF EXISTS {USER}")
        for path in self.root.iterdir():
            if path not in (self.database.data, self.work, self.root / "home"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def close(self):
        for process in self.started:
            process.kill()
            process.wait()
        self.database.stop()
        return super().close()

    def folder(self, name="one"):
        return self.root / name

    def config(self, name="one"):
        return self.folder(name) / "server.yaml"

    def program(self, name, *words, stdin=None, user=None, env=None, umask=-1):
        done = subprocess.run(
            [str(programs() / name), *map(str, words)],
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=120,
            user=user,
            umask=umask,
            cwd="/",
            env=self.environment(**(env or {})),
        )
        return done

    def ports(self):
        return [
            "--grpc-port", free_port(), "--http-port", free_port(), "--services-port", free_port(),
            "--health-port", free_port(),
        ]  # fmt: skip

    def setup(self, *words, name="one", stdin=None, user=None, umask=-1):
        """`hai-server setup` with its config in the folder of that name."""
        return self.program(
            "hai-server", "--config", self.config(name), "setup", *words, stdin=stdin, user=user,
            umask=umask,
        )  # fmt: skip

    def local(self):
        """The flags by which the database is made in the private PostgreSQL."""
        return ["--yes", "--no-start", "--user", USER, "--names", "localhost,127.0.0.1",
                "--postgres-socket", self.database.data]  # fmt: skip

    def set_up(self, *words):
        done = self.setup(*self.local(), "--cluster", "fire", *self.ports(), *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def setting(self, key, name="one"):
        """A value of server.yaml by the last word of its key, as the file has it."""
        return re.search(rf'^ *{key}: "?([^"\n]*)"?$', self.config(name).read_text(), re.M)[1]

    def address(self, kind="grpc", name="one"):
        advertise = self.config(name).read_text().split("advertise:")[1]
        return re.search(rf'{kind}: "([^"]*)"', advertise)[1]

    def start(self, program, config, user=None):
        log = self.root / f"{program}-{len(self.started)}.log"
        process = subprocess.Popen(
            [str(programs() / program), "--config", str(config)],
            stdout=open(log, "ab"),
            stderr=subprocess.STDOUT,
            user=user,
            cwd="/",
            env=self.environment(),
        )
        self.started.append(process)
        return process

    def start_server(self, name="one"):
        return self.start("hai-server", self.config(name), USER)

    def admit(self, name="one"):
        """`hai init` as the line that setup prints has it, with the token from its file."""
        folder = self.folder(name)
        words = ["init", "-", "--url", f"https://{self.address(name=name)}", "--ca", folder / "ca/ca.crt"]
        token = (folder / "admin.token").read_text()
        return eventually(
            "the server answers",
            lambda: (lambda done: done if done.code == 0 else None)(self.hai(*words, stdin=token)),
            60,
        )

    def tree(self, name="one"):
        """{path: (mode, owner, content)} of all files in the folder."""
        found = {}
        for path in sorted(self.folder(name).rglob("*")):
            facts = path.stat()
            if stat.S_ISREG(facts.st_mode):
                where = str(path.relative_to(self.folder(name)))
                found[where] = (facts.st_mode & 0o777, facts.st_uid, path.read_bytes())
        return found

    def as_machine(self, program, *words, load="loaded", stdin=""):
        """Runs a program where systemd seems to run the machine and /etc is the site's own. Gives what it
        said and what systemctl was told."""
        machine = self.root / f"machine-{len(list(self.root.glob('machine-*')))}"
        (machine / "bin").mkdir(parents=True)
        systemctl = machine / "bin" / "systemctl"
        systemctl.write_text(FAKE_SYSTEMCTL)
        systemctl.chmod(0o755)
        log = machine / "systemctl.log"
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", AS_MACHINE, "sh", str(programs() / program),
             *map(str, words)],  # fmt: skip
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            env=self.environment(
                MACHINE=machine, SYSTEMCTL_LOG=log, UNIT_LOAD=load,
                PATH=f"{machine / 'bin'}:{os.environ['PATH']}",
            ),  # fmt: skip
        )
        told = log.read_text().splitlines() if log.exists() else []
        return done, told, machine / "etc" / "hai"


@unittest.skipUnless(os.geteuid() == 0, "makes files and databases for other users: needs root")
class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = Site()
        cls.addClassCleanup(cls.site.close)

    def setUp(self):
        self.addCleanup(self.site.clean)

    def refused(self, done, sentence, code=1):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stdout, "")
