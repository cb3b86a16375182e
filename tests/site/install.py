"""A site from ten bare machines, by the commands of docs/operations: the store, two servers, nodes, people."""

import concurrent.futures
import json
import re
import urllib.request

from doc import block, blocks, fill, step
from network import SUBNET
from world import wait

STORES = ("db1", "db2", "db3")
SERVERS = ("server-1", "server-2")
NODES = ("node-1", "node-2", "node-3", "node-4")
PEOPLE = ("ann", "ben", "cy")
SLURM = "# Slurm's commands: where people use them, and each node"


def everywhere(names, act):
    """At the same time, as an operator with many terminals does."""
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(act, names))


def install(site, say):
    prepare_store(site)
    say("three machines with etcd, Patroni and PostgreSQL, by `hai-store-setup` as ha-store.md says")
    set_up_servers(site)
    say("two servers, as ha-store.md and setup.md say")
    everywhere([*NODES, "login"], lambda name: add_people(site, name))
    site["login"].run(doc_line("install.md", "# people"))
    everywhere(NODES, lambda name: site[name].run(doc_line("install.md", "# nodes")))
    everywhere([*NODES, "login"], lambda name: site[name].run(doc_line("install.md", SLURM)))
    first_words(site)
    everywhere(NODES, lambda name: join(site, name, site.join_line))
    wait("all nodes are up", lambda: nodes_up(site) == len(NODES), 120, pause=1)
    say("four nodes joined, by the one line that `hai-server setup --add-server` prints")


def doc_line(page, mark):
    """The installing line of a block that ends with this comment."""
    found = [line for text in blocks(page) for line in text.splitlines()
             if line.endswith(mark) and "apt-get install" in line]  # fmt: skip
    if len(found) != 1:
        raise AssertionError(f"{page} has {len(found)} installing lines that end with '{mark}', not one")
    return found[0].split(" #")[0].strip()


def versions(machine):
    """Of all packages of hai that this machine has."""
    return machine.says("dpkg-query -W -f '${Version}\\n' '*hai*' | sort -u")


# ---- the store

def prepare_store(site):
    words = {f"ADDRESS_{number}": site[other].address for number, other in enumerate(STORES, start=1)}
    commands = fill(block("ha-store.md", "hai-store-setup db1"), NETWORK=f"{SUBNET}.0/24", **words)
    said = site[STORES[0]].says(f"cd; {commands}", seconds=600)
    site.password = said.splitlines()[-1].strip()
    everywhere(STORES, lambda name: site[name].run("systemctl is-enabled hai-store-backup.timer"))
    asked = block("ha-store.md", "--stanza=hai info").splitlines()
    said = site[STORES[0]].says(next(line for line in asked if "--stanza=hai info" in line).split(" #")[0])
    if "full backup" not in said:
        raise AssertionError(f"the new store has no backup: {said}")


def members(site):
    """As Patroni says: name -> (role, state)."""
    for name in STORES:
        try:
            with urllib.request.urlopen(f"http://{site[name].address}:8008/cluster", timeout=2) as answer:
                found = json.load(answer)["members"]
        except (OSError, ValueError, KeyError):
            continue
        if found:
            return {member["name"]: (member["role"], member["state"]) for member in found}
    return {}


def store_is_whole(site):
    found = members(site)
    roles = sorted(role for role, state in found.values() if state in ("running", "streaming"))
    return roles == ["leader", "replica", "sync_standby"]


def store_leader(site):
    return next(name for name, (role, _) in members(site).items() if role == "leader")


# ---- servers

def set_up_servers(site):
    first = site[SERVERS[0]]
    first.run(doc_line("install.md", "# the first server").replace(" postgresql", ""))
    setup = block("ha-store.md", "hai-server setup --database").strip()
    names = f"--yes --cluster site --names {first.name} {first.address}"
    first.run(f"{setup} {names}", stdin=site.password + "\n", seconds=180)
    # The tests ask servers by their addresses, too.
    further = site[SERVERS[1]]
    add = f"{fill(step(2), **{'1250': str(len(NODES))})} --names {further.name},{further.address}"
    said = first.run(add, seconds=300).stdout
    site.join_line = re.search("^ *(hai-agent join .*)$", said, re.M).group(1)
    site.elsewhere = re.search("^ *(hai init - .*)$", said, re.M).group(1)
    site.token = (first.root / "etc/hai/admin.token").read_text().strip()


def first_words(site):
    """On the machine where people work: the administrator, the people, the line for nodes."""
    login = site["login"]
    login.run(site.elsewhere, stdin=site.token)
    site[SERVERS[0]].run(step(3).replace(step_people(), " ".join(PEOPLE)))
    site.tokens = {}
    for name in PEOPLE:
        said = login.says(f"hai token create --user {name} -o json")
        site.tokens[name] = re.search(r'"secret": *"([^"]+)"', said).group(1)


def step_people():
    """The names that the page has for a reader's own."""
    return step(3).removeprefix("hai user add ")


def nodes_up(site):
    return len(re.findall(r'"liveness": *"up"', site["login"].says("hai nodes -o json", check=False)))


def add_people(site, name):
    for number, person in enumerate(PEOPLE, start=2001):
        site[name].run(f"useradd --create-home --uid {number} {person}")


def join(site, name, line):
    machine = site[name]
    leaf = "AB"[(int(name[-1]) - 1) // 2]
    machine.run(f"{line} --group training --zone A --leaf leaf-{leaf} --no-start", seconds=120)
    # The GPUs are not real here, and containers within containers have no cgroups to give away.
    with open(machine.root / "etc/hai/agent.yaml", "a", encoding="utf-8") as file:
        file.write("simulate_gpus: 8\nisolation: shared\n")
    machine.run("systemctl enable --now hai-agent")
