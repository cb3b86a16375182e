"""What goes wrong, and when: a schedule that depends on the seed alone, and the thread that carries it
out. Each fault is undone after its time; no two faults hit the same thing at once.
"""

import dataclasses
import math
import random
import signal
import threading
import time

from processes import send
from world import DOWN_AFTER, SERVERS, STRANGER, boot_now


@dataclasses.dataclass
class Fault:
    number: int
    kind: str
    at: float  # seconds after the start
    seconds: float
    hosts: list
    choice: float  # picks what is only known then, e.g. one of the node's shims
    began: float = 0.0  # boot time
    ended: float = 0.0
    note: str = ""
    kept: list = dataclasses.field(default_factory=list)

    def __str__(self):
        hosts = ",".join(self.hosts) if len(self.hosts) < 7 else f"{len(self.hosts)} hosts"
        text = f"#{self.number:<3} {self.at:7.1f} s  {self.kind:<20} {hosts:<42} {self.seconds:5.1f} s"
        if self.began:
            text += f"  began {self.began:.1f} ended {self.ended:.1f}"
        return text + (f"  {self.note}" if self.note else "")

    def let_nobody_in(self):
        """An impostor that was refused: nothing may have come of it."""
        return self.kind == "impostor" and self.choice >= INSTEAD and "got in" not in self.note

    def touches(self, nodes, began, ended, after=0.0):
        """Did it, or what it left behind, hit one of these hosts in that time?"""
        if not self.began or self.began > ended or (self.ended or math.inf) + after < began:
            return False
        return any(host in nodes for host in self.hosts)


# kind: (weight, shortest, longest, what it hits). The longest are for a run of ten minutes.
KINDS = {
    "kill_server": (8, 0.2, 20, "server"),
    "pause_server": (8, 0.1, 60, "server"),
    "cut_server": (5, 0.5, 30, "server"),  # from all agents
    "kill_agent": (8, 0.05, 20, "node"),
    "pause_agent": (5, 0.1, 60, "node"),
    "agent_stopped": (4, DOWN_AFTER + 2, 60, "node"),  # its shims go on, and have to fence
    "impostor": (5, 2, 60, "name"),  # a second agent under the node's name; beside it, or for it
    "kill_shim": (6, 0.0, 0.0, "node"),
    "pause_shim": (4, 0.1, 20, "node"),
    "kill_node": (7, 0.5, 40, "node"),
    "pause_node": (5, 0.1, 60, "node"),
    "cut_node": (6, 0.5, 40, "node"),  # from everybody, both ways
    "cut_node_out": (4, 0.5, 30, "node"),  # it hears, but is not heard
    "cut_node_in": (4, 0.5, 30, "node"),
    "cut_node_servers": (4, 0.5, 30, "node"),  # its peers still reach it
    "cut_leaf": (3, 0.5, 25, "leaf"),  # the switch: its nodes still see each other
    "cut_control": (4, 3.0, 60, "control"),  # all servers from all agents
    "cut_postgres": (4, 0.5, 40, "control"),  # from all servers
    "cut_postgres_server": (4, 0.5, 20, "server"),  # from one
    "kill_postgres": (4, 0.2, 40, "control"),
    "pause_postgres": (3, 0.1, 40, "control"),
    "full_disk_postgres": (2, 2.0, 15, "control"),
    "full_disk_node": (4, 2.0, 20, "small_disk"),
    "restart_agents": (2, 0.0, 0.0, "agents"),
}
# These take no rank's node away: whoever blames them for a dead rank finds a bug, once agents ask
# their peers whether the control plane is gone.
OF_CONTROL_PLANE = {kind for kind, row in KINDS.items() if row[3] in ("server", "control")}
NO_RANK_MAY_DIE = OF_CONTROL_PLANE | {"restart_agents", "full_disk_node"}
INSTEAD = 0.35  # of the impostors: the node's machine is off meanwhile
FIRST_AT = 3.0
RECOVERY = 3.0  # after a fault its target is left alone for so long


def plan_faults(seed, seconds, nodes, leaves, small_disk, pace):
    """Nothing but the arguments decides. `pace`: mean seconds between two faults."""
    rng = random.Random(f"faults {seed}")
    kinds, weights = list(KINDS), [row[0] for row in KINDS.values()]
    scale = min(1.0, seconds / 120)
    busy = {}  # resource -> free from
    faults, at = [], FIRST_AT
    while at < seconds:
        kind = rng.choices(kinds, weights)[0]
        _, low, high, target = KINDS[kind]
        high = max(low, high * scale)
        length = math.exp(rng.uniform(math.log(low), math.log(high))) if low > 0 else 0.0
        length = min(length, max(0.0, seconds - at))
        hosts = {
            "server": lambda: [rng.choice(SERVERS)],
            "node": lambda: [rng.choice(nodes)],
            "name": lambda: [rng.choice(nodes), STRANGER],
            "leaf": lambda: list(rng.choice(leaves)),
            "control": lambda: [],
            "small_disk": lambda: [small_disk],
            "agents": lambda: list(nodes),
        }[target]()
        choice = rng.random()
        resources = hosts or ["control"]
        at += rng.expovariate(1 / pace)
        if any(busy.get(one, 0.0) > at for one in resources):
            continue
        for one in resources:
            busy[one] = at + length + RECOVERY
        faults.append(Fault(len(faults) + 1, kind, round(at, 2), round(length, 2), hosts, choice))
    return [fault for fault in faults if fault.at < seconds]


class Injector(threading.Thread):
    """Carries the schedule out; `stop` undoes what is not undone yet."""

    def __init__(self, world, faults):
        super().__init__(name="faults")
        self.world, self.faults = world, faults
        self.stopping = threading.Event()
        self.errors = []

    def run(self):
        began = time.monotonic()
        steps = [(fault.at, 0, fault) for fault in self.faults]
        while steps and not self.stopping.is_set():
            steps.sort(key=lambda step: (step[0], step[1], step[2].number))
            at, phase, fault = steps[0]
            if self.stopping.wait(max(0.0, at - (time.monotonic() - began))):
                break
            steps.pop(0)
            self.carry_out(fault, phase)
            if phase == 0:
                steps.append((at + fault.seconds, 1, fault))
        for _, phase, fault in steps:
            if phase == 1:
                self.carry_out(fault, 1)

    def go_where_ranks_are(self, fault):
        """An idle node's shims can't be hit: rather those of one that nothing else hits now."""
        busy = {host for other in self.faults if other.began and not other.ended for host in other.hosts}
        for node in [*fault.hosts, *self.world.nodes]:
            if node not in busy and self.world.shims(node):
                fault.hosts = [node]
                return

    def carry_out(self, fault, phase):
        try:
            if phase == 0:
                if fault.kind in ("kill_shim", "pause_shim"):
                    self.go_where_ranks_are(fault)
                fault.began = boot_now()
            ACTIONS[fault.kind][phase](self.world, fault)
            if phase == 1:
                fault.ended = boot_now()
        except Exception as error:  # the run goes on; the verdict will say so
            self.errors.append(f"{fault}: {error!r}")
            fault.ended = boot_now()

    def stop(self):
        self.stopping.set()
        self.join()


# ---- how each is done, and undone ----------------------------------------------------------------


def nothing(_world, _fault):
    pass


def kill_server(world, fault):
    world.servers[fault.hosts[0]].end()


def start_server(world, fault):
    world.servers[fault.hosts[0]].start()


def signal_server(number):
    return lambda world, fault: world.servers[fault.hosts[0]].send(number)


def kill_agent(world, fault):
    world.agents[fault.hosts[0]].end()


def start_agent(world, fault):
    world.agents[fault.hosts[0]].start()


def signal_agent(number):
    return lambda world, fault: world.agents[fault.hosts[0]].send(number)


def is_instead(fault):
    return fault.kind == "impostor" and fault.choice < INSTEAD


def start_impostor(world, fault):
    if is_instead(fault):
        world.kill_node(fault.hosts[0])
    fault.kept = [world.start_stranger(fault.hosts[0])]


def stop_impostor(world, fault):
    outcome = world.stop_stranger(fault.kept[0])
    fault.note = f"{'instead' if is_instead(fault) else 'beside'}: {outcome or 'not noticed'}"
    if is_instead(fault):
        start_agent(world, fault)


def signal_shim(number):
    def do(world, fault):
        shims = world.shims(fault.hosts[0])
        if not shims:
            fault.note = "no rank there"
            return
        fault.kept = [shims[int(fault.choice * len(shims))]]
        send(fault.kept, number)

    return do


def kill_node(world, fault):
    world.kill_node(fault.hosts[0])


def signal_node(number):
    return lambda world, fault: world.pause_node(fault.hosts[0], number)


def sides(world, fault):
    """(one side, the other side) of a cut, both ways or only from the first to the second."""
    hosts = fault.hosts
    others = [host for host in [*SERVERS, *world.nodes] if host not in hosts]
    return {
        "cut_node": [(hosts, others), (others, hosts)],
        "cut_leaf": [(hosts, others), (others, hosts)],
        "cut_node_out": [(hosts, others)],
        "cut_node_in": [(others, hosts)],
        "cut_node_servers": [(hosts, SERVERS), (SERVERS, hosts)],
        "cut_server": [(hosts, world.nodes), (world.nodes, hosts)],
        "cut_control": [(SERVERS, world.nodes), (world.nodes, SERVERS)],
        "cut_postgres": [(SERVERS, ["postgres"]), (["postgres"], SERVERS)],
        "cut_postgres_server": [(hosts, ["postgres"]), (["postgres"], hosts)],
    }[fault.kind]


def cut(world, fault):
    for senders, receivers in sides(world, fault):
        world.network.cut(senders, receivers)


def heal(world, fault):
    for senders, receivers in sides(world, fault):
        world.network.heal(senders, receivers)


def kill_postgres(world, fault):
    world.postgres.kill(immediate_stop=fault.choice < 0.5)


def start_postgres(world, _fault):
    world.postgres.start()


def signal_postgres(number):
    return lambda world, _fault: world.postgres.send(number)


def restart_agents(world, fault):
    number = signal.SIGKILL if fault.choice < 0.5 else signal.SIGTERM
    for agent in world.agents.values():
        agent.expected_end = True
        agent.send(number)
    for agent in world.agents.values():
        agent.end(number)
        agent.start()


PAUSE, GO_ON = signal.SIGSTOP, signal.SIGCONT
ACTIONS = {
    "kill_server": (kill_server, start_server),
    "pause_server": (signal_server(PAUSE), signal_server(GO_ON)),
    "kill_agent": (kill_agent, start_agent),
    "pause_agent": (signal_agent(PAUSE), signal_agent(GO_ON)),
    "agent_stopped": (signal_agent(PAUSE), signal_agent(GO_ON)),
    "impostor": (start_impostor, stop_impostor),
    "kill_shim": (signal_shim(signal.SIGKILL), nothing),
    "pause_shim": (signal_shim(PAUSE), lambda _, fault: send(fault.kept, GO_ON)),
    "kill_node": (kill_node, start_agent),
    "pause_node": (signal_node(PAUSE), signal_node(GO_ON)),
    "kill_postgres": (kill_postgres, start_postgres),
    "pause_postgres": (signal_postgres(PAUSE), signal_postgres(GO_ON)),
    "full_disk_postgres": (
        lambda world, _: world.postgres.fill_disk(),
        lambda world, _: (world.postgres.free_disk(), world.postgres.start()),
    ),
    "full_disk_node": (
        lambda world, _: world.fill_small_disk(),
        lambda world, _: world.free_small_disk(),
    ),
    "restart_agents": (restart_agents, nothing),
}
ACTIONS.update({kind: (cut, heal) for kind in KINDS if kind.startswith("cut_")})
