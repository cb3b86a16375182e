"""The highly available store as docs/operations/ha-store.md has it: three machines, each a network
namespace with etcd, Patroni and PostgreSQL of its own, configured by the very files of
deploy/postgres. Addresses, folders and passwords are all that is changed in them.
"""

import json
import os
import pathlib
import pwd
import re
import secrets
import shutil
import subprocess
import urllib.request

from network import SUBNET
from processes import Daemon, kill_all_in, pids_in, send
from world import wait

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent.parent
TEMPLATES = REPOSITORY / "deploy" / "postgres"
MACHINES = ("db1", "db2", "db3")
POSTGRES_BIN = pathlib.Path("/usr/lib/postgresql/15/bin")
ACCOUNT = "postgres"
PROGRAMS = ("patroni", "patronictl", "etcd", "etcdctl", "pgbackrest")


def why_not():
    """Which program is missing; "" if none is."""
    for program in PROGRAMS:
        if shutil.which(program) is None:
            return f"needs the program {program}: deploy/install_packages.sh --tests"
    if not (POSTGRES_BIN / "postgres").exists():
        return "needs PostgreSQL 15"
    return ""


class Machine:
    def __init__(self, store, name):
        self.store, self.name = store, name
        self.address = store.network.address(name)
        self.root = store.root / name
        self.data = self.root / "lib" / "15" / "hai"
        self.run_folder = self.root / "run"
        self.config = self.root / "patroni.yml"
        self.pgbackrest = self.root / "pgbackrest.conf"
        self.certificate = self.root / "tls.pem"  # and its key
        self.environment = {}

    def template(self, name):
        """A file of deploy/postgres as it is on this machine."""
        text = (TEMPLATES / name).read_text()
        # Longest first: .1 begins .11.
        text = text.replace("192.0.2.0/24", f"{SUBNET}.0/24")
        own = name in ("etcd.default", "patroni_env.conf")
        for number, machine in enumerate(MACHINES, start=11):
            address = self.store.network.address(machine)
            if own and machine == MACHINES[0]:
                # Of what such a file says of db1, all but the list of members is this machine's.
                lines = text.splitlines()
                text = "\n".join(
                    line.replace(f"192.0.2.{number}", address)
                    if line.startswith("ETCD_INITIAL_CLUSTER=")
                    else line.replace(f"192.0.2.{number}", self.address).replace(
                        "=db1", f"={self.name}"
                    )
                    for line in lines
                )
            text = text.replace(f"192.0.2.{number}", address)
        return (
            text.replace("/var/lib/postgresql", str(self.root / "lib"))
            .replace("/var/run/postgresql", str(self.run_folder))
            .replace("/var/lib/etcd", str(self.root / "etcd"))
            .replace("/var/log/postgresql", str(self.root / "log"))
            .replace("/mnt/backup/pgbackrest", str(self.store.repository))
            # Debian's key is for a group of postgres that processes here are not in.
            .replace("/etc/ssl/certs/ssl-cert-snakeoil.pem", str(self.certificate))
            .replace("/etc/ssl/private/ssl-cert-snakeoil.key", str(self.certificate))
            # The watchdog would be that of the machine that tests.
            .replace("mode: automatic", "mode: 'off'")
        )

    def create(self):
        owner = pwd.getpwnam(ACCOUNT)
        for folder in ("", "lib", "lib/15", "run", "etcd", "log", "lock"):
            (self.root / folder).mkdir(mode=0o755)
            os.chown(self.root / folder, owner.pw_uid, owner.pw_gid)
        self.make_certificate(owner)
        self.config.write_text(self.template("patroni.yml"))
        self.pgbackrest.write_text(self.template("pgbackrest.conf"))
        shared = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.root / "lib"),
            # Machines of their own have these at their usual places.
            "PGBACKREST_CONFIG": str(self.pgbackrest),
            "PGBACKREST_LOCK_PATH": str(self.root / "lock"),
        }
        self.environment = {**shared, **self.variables("patroni_env.conf"), **self.store.passwords}
        self.etcd = self.daemon("etcd", {**shared, **self.variables("etcd.default")}, ["etcd"])
        self.patroni = self.daemon("patroni", self.environment, ["patroni", self.config])

    def make_certificate(self, owner):
        key, certificate = (self.root / f"tls.{kind}" for kind in ("key", "crt"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "2", "-subj",
             f"/CN={self.name}", "-keyout", key, "-out", certificate],
            check=True, capture_output=True,
        )  # fmt: skip
        self.certificate.touch(mode=0o600)
        self.certificate.write_text(key.read_text() + certificate.read_text())
        os.chown(self.certificate, owner.pw_uid, owner.pw_gid)

    def variables(self, name):
        lines = self.template(name).splitlines()
        return dict(line.split("=", 1) for line in lines if re.match(r"[A-Z_0-9]+=", line))

    def daemon(self, name, environment, command):
        words = ["env", "-i", *(f"{key}={value}" for key, value in environment.items()), *command]
        log = self.root / "log" / f"{name}.log"
        return Daemon(f"{name} of {self.name}", self.name, words, log, user=ACCOUNT)

    def command(self, *words, check=True, errors=False, seconds=120):
        """On this machine, as the user postgres, with Patroni's environment. `errors`: gives what it says on
        stderr."""
        owner = pwd.getpwnam(ACCOUNT)
        become = [f"--setuid={owner.pw_uid}", f"--setgid={owner.pw_gid}"]
        done = subprocess.run(
            ["nsenter", f"--net=/run/netns/{self.name}", *become, *map(str, words)],
            env=self.environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{self.name}: {words}: {done.stdout}{done.stderr}")
        return done.stderr if errors else done.stdout

    def sql(self, text, database="postgres"):
        words = ["psql", "-h", self.run_folder, "-d", database, "-qAtX", "-c", text]
        return self.command(*words).strip()

    def start_etcd(self):
        self.etcd.start()

    def start(self):
        """As systemd does after a boot."""
        self.etcd.start()
        if not self.patroni.is_alive():
            # Its lock file names a process that may by now be another machine's: here they share ids.
            if not self.postgres_pids():
                (self.data / "postmaster.pid").unlink(missing_ok=True)
            self.patroni.start()

    def postgres_pids(self):
        """Of PostgreSQL and its children, not of Patroni or etcd."""
        found = []
        for pid in pids_in(self.name):
            try:
                if os.readlink(f"/proc/{pid}/exe") == str(POSTGRES_BIN / "postgres"):
                    found.append(pid)
            except OSError:
                continue
        return found

    def kill(self):
        """The power is gone."""
        for daemon in (self.etcd, self.patroni):
            daemon.expected_end = True
        kill_all_in(self.name)
        for daemon in (self.etcd, self.patroni):
            if daemon.process:
                daemon.process.wait()

    def send(self, number):
        send(pids_in(self.name), number)

    def ask(self, path, seconds=1.0):
        """(status, answer) of Patroni's REST interface; (0, {}) if there is none in time."""
        try:
            url = f"http://{self.address}:8008{path}"
            with urllib.request.urlopen(url, timeout=seconds) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, {}
        except (OSError, ValueError):
            return 0, {}


class HaStore:
    """Looks to a World as its Postgres does."""

    def __init__(self, root, network):
        self.root, self.network = root / "store", network
        self.repository = self.root / "repository"
        self.passwords = {
            f"PATRONI_{what}_PASSWORD": secrets.token_hex(16)
            for what in ("RESTAPI", "REPLICATION", "REWIND")
        }
        self.password = secrets.token_hex(16)
        self.passfile = root / "pgpass"
        self.machines = {}

    @property
    def conninfo(self):
        hosts = ",".join(machine.address for machine in self.machines.values())
        return (
            f"host={hosts} dbname=hai user=hai passfile={self.passfile}"
            " target_session_attrs=read-write sslmode=require"
        )

    def create(self):
        owner = pwd.getpwnam(ACCOUNT)
        for folder in (self.root, self.repository):
            folder.mkdir(mode=0o755)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        for name in MACHINES:
            self.machines[name] = Machine(self, name)
            self.machines[name].create()
        for machine in self.machines.values():
            machine.start()
        self.wait_whole(120)
        self.passfile.write_text(f"*:5432:hai:hai:{self.password}\n")
        self.passfile.chmod(0o600)
        primary = self.primary()
        primary.sql(f"CREATE ROLE hai LOGIN PASSWORD '{self.password}'")
        primary.sql(
            "CREATE DATABASE hai OWNER hai TEMPLATE template0 ENCODING 'UTF8'"
            " LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        primary.command("pgbackrest", "--stanza=hai", "stanza-create")
        primary.command("pgbackrest", "--stanza=hai", "check")

    # -- looking at it

    def primary(self):
        """The machine that Patroni says leads and that says so itself."""
        for machine in self.machines.values():
            if machine.ask("/primary")[0] == 200:
                return machine
        return None

    def members(self):
        for machine in self.machines.values():
            members = machine.ask("/cluster")[1].get("members")
            if members:
                return members
        return []

    def is_whole(self):
        """One leads, two follow it on its timeline, and one of these is synchronous."""
        members = self.members()
        roles = sorted(member.get("role") for member in members)
        lines = {member.get("timeline") for member in members}
        states = {member.get("state") for member in members}
        return (
            roles == ["leader", "replica", "sync_standby"]
            and len(lines) == 1
            and states <= {"running", "streaming"}
            and self.primary() is not None
        )

    def wait_whole(self, seconds=120):
        wait(f"the store is whole within {seconds} s: {self.members()}", self.is_whole, seconds)

    def standby(self, role="sync_standby"):
        for member in self.members():
            if member.get("role") == role:
                return self.machines[member["name"]]
        return None

    def etcd_leader(self):
        for machine in self.machines.values():
            said = machine.command(
                "etcdctl", f"--endpoints={machine.address}:2379", "endpoint", "status", "-w", "json",
                check=False,
            )
            status = json.loads(said)[0]["Status"] if said.strip() else None
            if status and status["leader"] == status["header"]["member_id"]:
                return machine
        return None

    def rows(self, query):
        done = subprocess.run(
            ["psql", self.conninfo, "-AtX", "-F", "\t", "-c", query],
            check=True,
            capture_output=True,
            text=True,
        )
        return [line.split("\t") for line in done.stdout.splitlines()]

    # -- its life

    def start(self):
        for machine in self.machines.values():
            machine.start()

    def stop(self):
        for machine in self.machines.values():
            machine.patroni.end(15, seconds=30)
        for machine in self.machines.values():
            machine.kill()
