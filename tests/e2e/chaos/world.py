"""The whole system as real processes: PostgreSQL, two servers, many agents, each on a host of its
own; and what can be done to them.
"""

import json
import os
import pathlib
import secrets
import signal
import subprocess
import time

from cgroups import cgroups_below, remove_cgroup
from client import Client, Hai
from network import Network
from postgres import Postgres, fill, run
from processes import Daemon, kill_all_in, name_of, pids_in, send

SERVERS = ("server-a", "server-b")
STRANGER = "stranger"  # the host of second agents under a node's name
LEAF_NODES = 5
SMALL_DISK = "12m"
PEER_PORT = 7710
LEASE, DOWN_AFTER = 12, 22  # seconds
FENCE = LEASE + 0.75 * (DOWN_AFTER - LEASE)  # docs/design/0005
# An agent needs 10 s to see that its server hangs, and gives the next one 5 s to answer; neither is a
# knob. A lease shorter than the one, or less time than the other until the fence, costs ranks that
# nobody had to kill.
KNOBS = {
    "heartbeat": "1s",
    "agent_lease": f"{LEASE}s",
    "down_after": f"{DOWN_AFTER}s",
    "lemon_score": "0",  # nodes die here more often than any that is worth keeping
    "server_lease": "2s",
    "resend_after": "1s",
    "launch_timeout": "20s",
    "min_quantum": "8s",
    "reserve_after": "5s",
    "tight_wait": "1s",
    "checkpoint_patience": "2s",
    "max_requeues": "1000",
}
SERVER_CONFIG = """cluster: chaos
listen: {{grpc: "{address}:7700", http: "{address}:7780"}}
store: {{conninfo: "{conninfo}"}}
bootstrap: {{admin_user: root, admin_token_file: {root}/admin.token}}
agent_token_file: {root}/agent.token
tls: {{certificate: {ca}/server-{address}.crt, key: {ca}/server-{address}.key, client_ca: {ca}/ca.crt}}
migrate_on_start: true
default_quota_nodes: unlimited
knobs: {knobs}
"""
AGENT_CONFIG = """name: {node}
group: training
zone: {zone}
leaf: {leaf}
address: {address}
data_dir: {root}/nodes/{node}
servers: [{servers}]
token_file: {root}/agent.token
tls: {{ca: {ca}/ca.crt, certificate: {ca}/{node}.crt, key: {ca}/{node}.key}}
simulate_gpus: 8
unknown_user_runs_as_self: true
isolation: shared
confinement: {{system_users: [root]}}
"""


class World:
    store_hosts = ("postgres",)
    knobs = KNOBS

    def __init__(self, root, programs, nodes):
        self.root, self.programs = pathlib.Path(root), pathlib.Path(programs)
        self.nodes = [f"node-{number}" for number in range(1, nodes + 1)]
        self.leaves = [
            self.nodes[first : first + LEAF_NODES] for first in range(0, nodes, LEAF_NODES)
        ]
        self.small_disk = self.nodes[-1]  # its data directory is a small file system of its own
        self.network = Network()
        self.servers, self.agents = {}, {}
        self.surprises = []  # programs that ended though nobody asked them to
        self.ledgers = self.root / "ledgers"
        self.ca = self.root / "ca"

    # -- making it

    def create(self):
        for folder in ("log", "nodes", "ledgers", "strangers"):
            (self.root / folder).mkdir()
        self.root.chmod(0o711)
        self.network.build(["client", *self.store_hosts, *SERVERS, *self.nodes, STRANGER])
        for name in ("admin", "agent"):
            (self.root / f"{name}.token").write_text(secrets.token_hex(16) + "\n")
            (self.root / f"{name}.token").chmod(0o600)
        self.issue_certificates()
        disk = self.root / "nodes" / self.small_disk
        disk.mkdir()
        run("mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", disk)
        self.postgres = self.make_store()
        for name in SERVERS:
            self.servers[name] = self.make_server(name)
            self.servers[name].start()
        self.wait_leading(30)
        self.ask_for_peers()
        for node in self.nodes:
            self.agents[node] = self.make_agent(node)
            self.agents[node].start()
        self.admin = self.client((self.root / "admin.token").read_text().strip())
        self.make_hai()
        self.wait_up(60)

    def make_store(self):
        postgres = Postgres(self.root, "postgres", self.network.address("postgres"))
        postgres.create()
        return postgres

    def issue_certificates(self):
        """For each server at its address, and for each node."""
        issue = ["issue", self.ca]
        for words in [
            ["init", self.ca],
            *([*issue, "--server", self.network.address(name)] for name in SERVERS),
            *([*issue, "--node", node] for node in self.nodes),
        ]:
            run(self.programs / "hai-server", "ca", *words)

    def config(self, name, text):
        path = self.root / f"{name}.yaml"
        path.write_text(text)
        return path

    def make_server(self, name):
        text = SERVER_CONFIG.format(
            address=self.network.address(name),
            conninfo=self.postgres.conninfo,
            root=self.root,
            ca=self.ca,
            knobs=json.dumps(self.knobs),
        )
        config = self.config(name, text)
        command = [self.programs / "hai-server", "--config", config]
        return Daemon(name, name, command, self.root / "log" / f"{name}.log")

    def make_agent(self, node):
        number = self.nodes.index(node)
        text = AGENT_CONFIG.format(
            node=node,
            zone="AB"[number * 2 // len(self.nodes)],
            leaf=f"leaf-{number // LEAF_NODES + 1}",
            address=self.network.address(node),
            root=self.root,
            ca=self.ca,
            servers=", ".join(f'"{self.network.address(name)}:7700"' for name in SERVERS),
        )
        if self.knows_peers:
            text += f"peer_port: {PEER_PORT}\n"
        command = [self.programs / "hai-agent", "--config", self.config(node, text)]
        return Daemon(node, node, command, self.root / "log" / f"{node}.log")

    def ask_for_peers(self):
        """Does this build's agent ask its peers before it gives up its ranks?"""
        config = self.config("probe", f"peer_port: {PEER_PORT}\n")
        command = [self.programs / "hai-agent", "--check-config", "--config", config]
        said = subprocess.run(command, capture_output=True, text=True)
        self.knows_peers = "peer_port" not in said.stdout + said.stderr

    def client(self, token, **options):
        servers = [f"{self.network.address(name)}:7780" for name in SERVERS]
        return Client(servers, token, self.ca / "ca.crt", **options)

    def make_hai(self):
        self.hai = Hai(self.programs / "hai", self.root / "hai.json")
        urls = []
        for name in SERVERS:
            urls += ["--url", f"https://{self.network.address(name)}:7700"]
        token = (self.root / "admin.token").read_text().strip()
        self.hai.ok("init", token, *urls, "--ca", self.ca / "ca.crt", "--name", "chaos")

    def add_user(self, name):
        self.hai.ok("user", "set", name)
        made = json.loads(self.hai.ok("token", "create", "--user", name, "-o", "json"))
        return self.client(made["secret"])

    # -- looking at it

    def leader(self):
        for name in SERVERS:
            try:
                server = f"{self.network.address(name)}:7780"
                asked = Client([server], "", self.ca / "ca.crt", timeout=1)
                if asked.ask(asked.servers[0], "GET", "/readyz", None, None)[0] == 200:
                    return name
            except OSError:
                continue
        return None

    def wait_leading(self, seconds):
        wait(f"a server leads within {seconds} s", self.leader, seconds)

    def wait_up(self, seconds):
        def all_up():
            nodes = self.admin.call("GET", "/api/v1/nodes")["nodes"]
            return sum(node["liveness"] == "up" for node in nodes) == len(self.nodes)

        wait(f"{len(self.nodes)} nodes are up within {seconds} s", all_up, seconds)

    def supervise(self):
        """As systemd would: what ended on its own starts again. It is also written down."""
        for daemon in [*self.servers.values(), *self.agents.values(), self.postgres.daemon]:
            code = daemon.surprise()
            if code is None:
                continue
            self.surprises.append((boot_now(), daemon.name, code))
            if daemon is self.postgres.daemon:
                self.postgres.start()
            else:
                daemon.start()

    def surprises_that_matter(self):
        """PostgreSQL gives up on a full disk; ours may not."""
        return [
            f"{name} ended with {code} at {at:.1f}"
            for at, name, code in self.surprises
            if name != "postgres"
        ]

    def verify(self):
        """`hai-server verify`: (all is well, what it said)."""
        config = self.root / "server-a.yaml"
        done = subprocess.run(
            [self.verify_programs() / "hai-server", "--config", config, "verify"],
            capture_output=True,
            text=True,
            timeout=180,
        )
        return done.returncode == 0, (done.stdout + done.stderr)[-2000:]

    def wait_workers(self, jobs, seconds):
        """Until all running jobs have come to their end."""
        def ended():
            self.supervise()
            states = {job["id"]: job["state"] for job in self.admin.jobs()}
            return all(
                states.get(submit.answers[0]) in ("succeeded", "failed", "stopped")
                for submit in jobs.acknowledged
            )

        wait(f"all workers end within {seconds} s", ended, seconds, pause=1)

    def verify_programs(self):
        """Those whose schema the database has."""
        return self.programs

    # -- doing things to it

    def shims(self, node):
        return sorted(pid for pid in pids_in(node) if name_of(pid) == "hai-shim")

    def kill_node(self, node):
        self.agents[node].expected_end = True
        kill_all_in(node)
        if self.agents[node].process:
            self.agents[node].process.wait()

    def pause_node(self, node, number):
        """SIGCONT goes to the ranks last: a machine that wakes up runs its timers first."""
        pids = pids_in(node)
        guards = [pid for pid in pids if name_of(pid) in ("hai-shim", "hai-agent")]
        send(guards, number)
        send([pid for pid in pids if pid not in guards], number)

    def start_stranger(self, node):
        """A copy of the node's config on another machine: its name, a data directory of its own.
        Gives the agent."""
        number = len(list((self.root / "strangers").iterdir())) + 1
        folder = self.root / "strangers" / f"{number}"
        folder.mkdir()
        text = (self.root / f"{node}.yaml").read_text()
        text = text.replace(str(self.root / "nodes" / node), str(folder))
        text = text.replace(self.network.address(node), self.network.address(STRANGER))
        name = f"stranger-{number}"
        command = [self.programs / "hai-agent", "--config", self.config(name, text)]
        agent = Daemon(name, STRANGER, command, self.root / "log" / f"{name}.log")
        agent.start()
        return agent

    def stop_stranger(self, agent):
        """With all that runs there. Says whether it was let in."""
        agent.expected_end = True
        kill_all_in(STRANGER)
        agent.process.wait()
        for group in cgroups_below((self.root / "strangers").iterdir()):
            remove_cgroup(group)
        log = agent.log.read_text(errors="replace")
        return "got in" if "server_connected" in log else "refused" if "refused_by" in log else ""

    def fill_small_disk(self):
        with open(self.root / "nodes" / self.small_disk / "filler", "ab") as file:
            fill(file.fileno())

    def free_small_disk(self):
        (self.root / "nodes" / self.small_disk / "filler").unlink(missing_ok=True)

    # -- the end

    def stop(self):
        """As an operator would. What needs force is a finding."""
        stuck = []
        for daemon in [*self.agents.values(), *self.servers.values()]:
            daemon.expected_end = True
            daemon.send(signal.SIGTERM)
        for daemon in [*self.agents.values(), *self.servers.values()]:
            if not daemon.end(signal.SIGTERM):
                stuck.append(f"{daemon.name} does not end within 15 s of SIGTERM")
        self.postgres.stop()
        return stuck

    def close(self):
        """Whatever is left goes with the pid namespace; only files would stay."""
        for path in (self.root / "nodes" / self.small_disk, self.root / "postgres"):
            if os.path.ismount(path):
                subprocess.run(["umount", "-l", path], check=False)


def boot_now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def wait(what, probe, seconds, pause=0.1):
    deadline = time.monotonic() + seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not so: {what}")
        time.sleep(pause)
