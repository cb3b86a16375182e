"""What happens to the store. Each fault has `begin` and, where the machine does not come back by itself,
`end`; `seconds` is how long it lasts. The store is whole again before the next one."""

import dataclasses
import signal
from typing import Callable

from processes import send
from ha_machines import MACHINES


@dataclasses.dataclass
class Fault:
    name: str
    what: str
    begin: Callable  # (world) -> the machine that was the primary, or None if it stays one
    end: Callable = lambda world: world.store.start()
    seconds: float = 25


def kill_primary(world):
    primary = world.store.primary()
    primary.kill()
    return primary


def kill_postgres(world):
    """PostgreSQL alone: Patroni lives."""
    primary = world.store.primary()
    send(primary.postgres_pids(), signal.SIGKILL)


def kill_primary_and_server(world):
    leader = world.leader()
    primary = world.store.primary()
    primary.kill()
    world.servers[leader].end(signal.SIGKILL)
    return primary


def start_all(world):
    world.store.start()
    for server in world.servers.values():
        server.start()


def kill_etcd_leader(world):
    world.store.etcd_leader().etcd.end(signal.SIGKILL)


def kill_standby(world):
    world.store.standby().kill()


def freeze_primary(world):
    primary = world.frozen = world.store.primary()
    primary.send(signal.SIGSTOP)
    return primary


def wake(world):
    world.frozen.send(signal.SIGCONT)


def freeze_standby(world):
    world.frozen = world.store.standby()
    world.frozen.send(signal.SIGSTOP)


def cut_primary(world):
    """From everybody."""
    primary = world.store.primary()
    others = [host for host in world.network.numbers if host != primary.name]
    world.cut = ([primary.name], others)
    return cut(world, primary)


def cut_primary_from_machines(world):
    """hai's servers still reach it, and it them."""
    primary = world.store.primary()
    world.cut = ([primary.name], [name for name in MACHINES if name != primary.name])
    return cut(world, primary)


def cut(world, primary):
    some, others = world.cut
    world.network.cut(some, others)
    world.network.cut(others, some)
    return primary


def heal(world):
    some, others = world.cut
    world.network.heal(some, others)
    world.network.heal(others, some)


def switch_over(world):
    primary = world.store.primary()
    to = world.store.standby().name
    words = ["switchover", "--force", "--leader", primary.name, "--candidate", to]
    primary.command("patronictl", "-c", primary.config, *words, "hai")
    return primary


FAULTS = [
    Fault("kill-primary", "`kill -9` of all of the primary's machine", kill_primary),
    Fault("kill-postgres", "`kill -9` of PostgreSQL alone, its Patroni lives", kill_postgres),
    Fault(
        "kill-both",
        "`kill -9` of the leading hai-server and the primary's machine at once",
        kill_primary_and_server,
        start_all,
    ),
    Fault("kill-standby", "`kill -9` of the synchronous standby's machine", kill_standby),
    Fault("kill-etcd", "`kill -9` of the leading etcd member", kill_etcd_leader),
    Fault("freeze-primary", "SIGSTOP of all of the primary's machine, 40 s", freeze_primary, wake, 40),
    Fault("freeze-standby", "SIGSTOP of the synchronous standby's machine, 25 s", freeze_standby, wake),
    Fault("cut-primary", "the primary's machine cut from everybody, 40 s", cut_primary, heal, 40),
    Fault(
        "split-primary",
        "the primary cut from the other two machines, not from hai's servers, 40 s",
        cut_primary_from_machines,
        heal,
        40,
    ),
    Fault("switchover", "`patronictl switchover`", switch_over, lambda world: None, 15),
]
