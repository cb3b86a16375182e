"""What happens to the site. `begin` and, where it does not end by itself, `end`; all must be whole after it."""

import dataclasses
from typing import Callable

from install import NODES, SERVERS, STORES, everywhere, store_leader


@dataclasses.dataclass
class Fault:
    name: str
    what: str
    begin: Callable
    end: Callable = lambda site: site.boot()
    seconds: float = 20
    takes: tuple = ()  # nodes whose attempts it may cost


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


def cut_leader_from_store(site):
    site.cut_off = [site.leader()], list(STORES)
    change(site, site.network.cut)


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
    """docs/operations/upgrade.md: the standby, the leader, nodes, people."""
    site.publish(site.new)
    first = next(name for name in SERVERS if name != site.leader())
    again = "apt-get update && apt-get install --only-upgrade "
    site[first].run(f"{again} hai-server hai-web hai-cli\nrunuser -u hai -- hai-server migrate")
    site[next(name for name in SERVERS if name != first)].run(f"{again} hai-server hai-web hai-cli")
    everywhere(NODES, lambda name: site[name].run(f"{again} hai-agent python3-hai"))
    site["login"].run(f"{again} hai-cli")


def nothing(_):
    pass


FAULTS = [
    Fault("server", "the leading server's machine off", off(leader)),
    Fault("primary", "the PostgreSQL primary's machine off", off(primary)),
    Fault("both", "both at once", off(leader, primary)),
    Fault("etcd", "`kill -9` of an etcd", kill_etcd, nothing, 10),
    Fault("store-cut", "the leading server cut from the store", cut_leader_from_store, heal),
    Fault("node", "a node's machine off", off(node), seconds=45, takes=NODES[1:2]),
    Fault("leaf", "a leaf of two nodes cut from all others, 20 s", cut_leaf, heal),
    Fault("upgrade", "every package upgraded, in the documented order", upgrade, nothing, 0),
    Fault("power-cut", "every machine off at once", all_off, seconds=5, takes=NODES),
]
