"""What happens to the site: `begin` and, where it does not end by itself, `end`. All must be whole then."""

import dataclasses
from typing import Callable

from doc import OPERATIONS, upgrade_commands
from install import NODES, SERVERS, STORES, everywhere, store_leader, versions
from site_clocks import HOUR, LIBRARY, step, step_back


@dataclasses.dataclass
class Fault:
    name: str
    what: str
    begin: Callable
    end: Callable = lambda site: site.boot()
    seconds: float = 20
    takes: tuple = ()  # nodes whose attempts it may cost
    keeps_out: tuple = ()  # nodes where none can begin: those that are sent there go elsewhere
    # Longest refusal of submits, in seconds: what docs/reliability.md has measured, and room for a busy machine.
    refused_most: float = 15
    skipped: str = ""  # why it cannot be made here


def off(*chosen):
    """All at once, as the plug of a rack."""
    def begin(site):
        for name in [choose(site) for choose in chosen]:
            site[name].power_off()

    return begin


def leader(site):
    return site.leader()


def primary(site):
    return store_leader(site)


def node(_):
    return NODES[1]


def kill_etcd(site):
    site[STORES[1]].run("systemctl kill -s KILL etcd")


def cut_from_store(choose):
    def begin(site):
        site.cut_off = [choose(site)], list(STORES)
        change(site, site.network.cut)

    return begin


def cut_leaf(site):
    site.cut_off = list(NODES[:2]), [name for name in site.network.numbers if name not in NODES[:2]]
    change(site, site.network.cut)


def heal(site):
    change(site, site.network.heal)


def change(site, act):
    some, others = site.cut_off
    act(some, others)
    act(others, some)


def all_off(site):
    for machine in site.machines.values():
        machine.power_off()


def upgrade(site):
    """docs/operations/upgrade.md: the standby, the leader, nodes, people; the store has hai-server, too."""
    site.publish(site.new)
    commands = upgrade_commands()
    first = standby(site)
    site[first].run(f"{commands['packages']}\n{commands['migrate']}")
    site[other(first)].run(commands["packages"])
    everywhere([*NODES, "login", *STORES], lambda name: site[name].run(commands["packages"]))
    for name, machine in site.machines.items():
        if versions(machine) != site.new.name:
            raise AssertionError(f"{name} has the versions {versions(machine)} after the upgrade")


def go_back(site):
    """Servers below newer agents, then the agents, to the version before."""
    site.publish(site.old)
    for name in SERVERS:
        older(site, name, "hai-server", "hai-web", "hai-cli")
    everywhere(NODES, lambda name: older(site, name, "hai-agent", "python3-hai", "hai-slurm"))
    older(site, "login", "hai-cli", "hai-slurm")


def older(site, name, *packages):
    documented = "apt-get install --allow-downgrades hai-server=VERSION ..."
    if documented not in (OPERATIONS / "upgrade.md").read_text():
        raise AssertionError(f"upgrade.md does not say: {documented}")
    words = " ".join(f"{package}={site.old.name}" for package in packages)
    site[name].run("apt-get update\n" + documented.replace("hai-server=VERSION ...", words))


def upgrade_wrongly(site):
    """People, nodes, then the servers, of which the leading one first."""
    site.publish(site.new)
    commands = upgrade_commands()
    site["login"].run(commands["packages"])
    everywhere(NODES, lambda name: site[name].run(commands["packages"]))
    last = standby(site)
    site[other(last)].run(f"{commands['packages']}\n{commands['migrate']}")
    site[last].run(commands["packages"])


def standby(site):
    return other(site.leader())


def other(server):
    return next(name for name in SERVERS if name != server)


def fill_disk(choose):
    def begin(site):
        site.full = choose(site)
        # All but a little at once, then the rest.
        site[site.full].run(
            "fallocate -l $(($(df --output=avail -B1 /var | tail -n 1) * 98 / 100)) /var/fill\n"
            "cat /dev/zero > /var/fill.rest 2> /dev/null || true"
        )

    return begin


def free_disk(site):
    site[site.full].run("rm -f /var/fill /var/fill.rest")


def nothing(_):
    pass


def clock_faults():
    """Where libfaketime is: with one clock for all machines there is none to step."""
    why = "" if LIBRARY else "no libfaketime"
    return [
        Fault(name, f"{whose} clock an hour {way}", step(choose, seconds), step_back, skipped=why)
        for name, whose, way, choose, seconds in (
            ("server-ahead", "the leading server's", "ahead", leader, HOUR),
            ("server-behind", "the leading server's", "behind", leader, -HOUR),
            ("node-ahead", "a node's", "ahead", node, HOUR),
            ("node-behind", "a node's", "behind", node, -HOUR),
        )
    ]


FAULTS = [
    Fault("server", "the leading server's machine off", off(leader)),
    Fault("primary", "the PostgreSQL primary's machine off", off(primary), refused_most=40),
    Fault("both", "both at once", off(leader, primary), refused_most=40),
    Fault("etcd", "`kill -9` of an etcd", kill_etcd, nothing, 10),
    Fault("store-cut", "the leading server cut from the store", cut_from_store(leader), heal),
    Fault("standby-cut", "the standby server cut from the store", cut_from_store(standby), heal),
    Fault("node", "a node's machine off", off(node), seconds=45, takes=NODES[1:2]),
    Fault("leaf", "a leaf of two nodes cut from all others, 20 s", cut_leaf, heal),
    *clock_faults(),
    Fault("upgrade", "every package upgraded, in the documented order", upgrade, nothing, 0),
    Fault("back", "servers, then nodes, taken back to the older version", go_back, nothing, 0),
    Fault("wrong-order", "every package upgraded, servers last", upgrade_wrongly, nothing, 0),
    Fault("power-cut", "every machine off at once", all_off, seconds=5, takes=NODES, refused_most=60),
    Fault("node-disk", "the disk of a node full", fill_disk(node), free_disk, keeps_out=NODES[1:2]),
    Fault("primary-disk", "the disk of the PostgreSQL primary full", fill_disk(primary), free_disk, refused_most=60),
]
