"""Several hai-servers on one PostgreSQL, with agents that know them all, for tests of what happens
when one of them, or the database, goes away. Real processes below one temporary directory; the
database is played tricks with the signals and settings a real one meets. In plain text, so that
benchmarks measure the server alone; tls_test.py has them over TLS.
"""

import contextlib
import http.client
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time
import unittest

from cluster import Cluster, eventually, programs

TOKEN = "hai_" + "a1" * 32
AGENT_TOKEN = "hai_" + "b2" * 32


def prefer(process):
    """$HAI_BENCH_NICE, e.g. -15: measured on a machine that others use, too."""
    if os.environ.get("HAI_BENCH_NICE"):
        os.setpriority(os.PRIO_PROCESS, process.pid, int(os.environ["HAI_BENCH_NICE"]))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def postgres_folder():
    given = os.environ.get("HAI_POSTGRES_BIN")
    if given:
        return pathlib.Path(given)
    found = sorted(
        pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"),
        key=lambda path: int(path.parent.parent.name),
    )
    return found[-1].parent if found else pathlib.Path(shutil.which("postgres") or "/").parent


class Database:
    """A private PostgreSQL: a data directory, a Unix socket, no TCP. `fsync` is on."""

    def __init__(self, root, settings=(), data=None, administrator="hai", method="trust"):
        self.root = pathlib.Path(root)
        self.administrator = administrator
        self.data = pathlib.Path(data or self.root / "pg")
        self.user = "postgres" if os.geteuid() == 0 else None
        self.settings = settings
        self.process = None
        self.environment = {}  # more of it
        self.data.mkdir(exist_ok=True)
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(self.data, entry.pw_uid, entry.pw_gid)
        self.run(
            "initdb", "-A", method, "-U", administrator, "-N", "-D", self.data / "main"
        )

    @property
    def conninfo(self):
        return f"host={self.data} user=hai dbname=postgres"

    def run(self, program, *words):
        done = subprocess.run(
            [str(postgres_folder() / program), *map(str, words)],
            user=self.user,
            capture_output=True,
            text=True,
            cwd="/",
            timeout=60,
        )
        if done.returncode != 0:
            raise AssertionError(f"{program} {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        settings = ["listen_addresses=", f"unix_socket_directories={self.data}", *self.settings]
        log = open(self.root / "postgres.log", "ab")
        self.process = subprocess.Popen(
            [str(postgres_folder() / "postgres"), "-D", str(self.data / "main")]
            + [word for setting in settings for word in ("-c", setting)],
            user=self.user,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            env={**os.environ, **self.environment},
        )
        prefer(self.process)
        eventually("PostgreSQL answers", self.answers)

    def answers(self):
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            return self.sql("SELECT 1") == "1"
        return False

    def sql(self, text, database="postgres"):
        words = ["-h", self.data, "-U", self.administrator, "-d", database, "-qAt", "-c", text]
        return self.run("psql", *words).strip()

    def pids(self):
        """The postmaster and all its children; backends have sessions of their own."""
        found = {self.process.pid}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError, IndexError):
                    if int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) in found:
                        found.add(int(entry.name))
        return found

    def signal(self, number):
        for pid in sorted(self.pids()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(timeout=30)


class Server:
    def __init__(self, servers, number, wrapper=()):
        self.servers, self.number, self.wrapper = servers, number, list(wrapper)
        self.grpc, self.http = free_port(), free_port()
        self.process = None
        self.log = servers.root / f"server-{number}.log"
        self.config = servers.root / f"server-{number}.yaml"

    def start(self):
        if not self.config.exists():
            self.config.write_text(self.servers.server_config(self))
        self.process = subprocess.Popen(
            [*self.wrapper, str(programs() / "hai-server"), "--config", str(self.config)],
            stdout=self.log.open("ab"),
            stderr=subprocess.STDOUT,
            env=self.servers.environment(),
        )
        prefer(self.process)
        return self

    def kill(self):
        """SIGKILL of the server itself, also below a wrapper."""
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def signal(self, number):
        for pid in self.pids():
            os.kill(pid, number)

    def pids(self):
        if not self.wrapper:
            return [self.process.pid]
        mark = f"--config\0{self.config}\0".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    command = (entry / "cmdline").read_bytes()
                    if mark in command and command.split(b"\0")[0].endswith(b"hai-server"):
                        found.append(int(entry.name))
        return found

    def resident_bytes(self):
        """What it holds in memory: Linux's VmRSS."""
        status = pathlib.Path(f"/proc/{self.pids()[0]}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024

    def get(self, path, method="GET", body=None, headers=None, seconds=10):
        """(status, headers, text) of one HTTP request; status 0 if nobody answers."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=seconds)
            head = {"Authorization": f"Bearer {TOKEN}", **(headers or {})}
            connection.request(method, path, body, head)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
            connection.close()
            return answer.status, dict(answer.getheaders()), text
        except OSError:
            return 0, {}, ""

    def ready(self):
        return self.get("/readyz", seconds=3)[0] == 200

    def metric(self, name):
        for line in self.get("/metrics")[2].splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        return None


class Servers(Cluster):
    """A Cluster (its `hai`, jobs and logs), but started here and with any number of servers."""

    def __init__(self, count=2, nodes=2, gpus=8, fleet=0, knobs="", settings=(), wrapper=(), data=None,
                 heartbeat="1s", polite=True):
        super().__init__(name="servers", nodes=nodes, gpus=gpus)
        self.fleet, self.knobs, self.heartbeat = fleet, knobs, heartbeat
        self.agent_options = ""  # more lines of their config
        # A fleet stands for machines of their own: it should not take this one from the server.
        self.polite = ["nice", "-n", "19"] if fleet and polite else []
        for name, text in (("admin.token", TOKEN), ("agent.token", AGENT_TOKEN)):
            (self.root / name).write_text(text + "\n")
            (self.root / name).chmod(0o600)
        self.database = Database(self.root, settings, data)
        self.servers = [
            Server(self, number, wrapper if number else ()) for number in range(count)
        ]
        self.agents = {}
        self.write_context([server.grpc for server in self.servers])

    def write_context(self, ports, name="servers"):
        """Which servers `hai` knows."""
        context = {
            "name": name,
            "servers": [f"127.0.0.1:{port}" for port in ports],
            "token": TOKEN,
        }
        path = self.root / "config.json"
        path.write_text(json.dumps({"current": name, "contexts": [context]}))
        path.chmod(0o600)

    def server_config(self, server):
        return f"""
cluster: servers
listen: {{grpc: "127.0.0.1:{server.grpc}", http: "127.0.0.1:{server.http}"}}
store: {{conninfo: "{self.database.conninfo}"}}
migrate_on_start: true
bootstrap: {{admin_user: root, admin_token_file: "{self.root}/admin.token"}}
agent_token_file: "{self.root}/agent.token"
default_quota_nodes: unlimited
knobs: {{heartbeat: {self.heartbeat}{self.knobs}}}
"""

    def start_agent(self, name, servers=None):
        """`servers`: those of its config; all if None."""
        folder = self.root / "nodes" / name
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "agent.yaml"
        addresses = ", ".join(f'"127.0.0.1:{server.grpc}"' for server in servers or self.servers)
        config.write_text(
            f"""
name: {name}
group: training
zone: A
leaf: leaf-1
address: 127.0.0.1
data_dir: "{folder}"
servers: [{addresses}]
token_file: "{self.root}/agent.token"
simulate_gpus: {self.gpus}
unknown_user_runs_as_self: true
isolation: shared
confinement: {{system_users: [root]}}
{self.agent_options}"""
        )
        words = ["--fleet", str(self.fleet)] if self.fleet else []
        self.agents[name] = subprocess.Popen(
            [*self.polite, str(programs() / "hai-agent"), "--config", str(config), *words],
            stdout=open(self.root / f"{name}.log", "ab"),
            stderr=subprocess.STDOUT,
            env=self.environment(),
        )

    def up(self):
        self.database.start()
        for server in self.servers:
            server.start()
        eventually("a server leads", self.leader)
        for number in range(1, (1 if self.fleet else self.nodes) + 1):
            self.start_agent(f"node-{number}")
        wanted = self.fleet or self.nodes
        if wanted:
            eventually("all nodes are up", lambda: self.nodes_up() == wanted, 60)
        return self

    def nodes_up(self):
        leader = self.leader()
        if leader is None:
            return 0
        return int(leader.metric('hai_nodes{liveness="up"}') or 0)

    def leader(self):
        return next((s for s in self.servers if s.process and s.ready()), None)

    def standby(self):
        leader = self.leader()
        return next(s for s in self.servers if s is not leader)

    def spec_of_sleep(self, name, seconds=600, nodes=1, gpus=None, options=None):
        return self.spec(name, "/bin/sleep", str(seconds), nodes=nodes, gpus=gpus, options=options)

    def close(self):
        for process in self.followers:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for server in self.servers:
            if server.process and server.process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    server.signal(signal.SIGCONT)
                server.kill()
        for process in self.agents.values():
            process.kill()
            process.wait()
        self.database.stop()
        deadline = time.monotonic() + 5
        while self.processes() and time.monotonic() < deadline:
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        shutil.rmtree(self.root, ignore_errors=True)


class ServersTest(unittest.TestCase):
    """Tests that share servers, `self.cluster`."""

    @classmethod
    def make(cls):
        return Servers()

    @classmethod
    def prepare(cls):
        """Before they start."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.make()
        cls.addClassCleanup(cls.cluster.close)
        cls.prepare()
        cls.cluster.up()
