"""A site from ten bare machines, by the commands of docs/operations: the store, two servers, nodes, people."""

import concurrent.futures
import json
import re
import secrets
import urllib.request

from doc import block, fill, lines
from network import SUBNET
from world import wait

STORES = ("db1", "db2", "db3")
SERVERS = ("server-1", "server-2")
NODES = ("node-1", "node-2", "node-3", "node-4")
PEOPLE = ("ann", "ben", "cy")
DATABASE = "host=db1,db2,db3 dbname=hai user=hai passfile=/etc/hai/pgpass target_session_attrs=read-write"
SECRET = secrets.token_hex(24)


def everywhere(names, act):
    """At the same time, as an operator with many terminals does."""
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(act, names))


def install(site, say):
    everywhere(STORES, lambda name: prepare_store(site, name))
    wait("the store has a leader and two who follow", lambda: store_is_whole(site), 180, pause=1)
    once = block("ha-store.md", "hai-store-setup --create")
    site.password = site[store_leader(site)].says(f"cd; {once}").split(":")[-1]
    say("three machines with etcd, Patroni and PostgreSQL, as ha-store.md says")
    everywhere(SERVERS, lambda name: site[name].run("apt-get update; apt-get install hai-server hai-web hai-cli"))
    set_up_servers(site)
    say("two servers, as ha-store.md and setup.md say")
    everywhere([*NODES, "login"], lambda name: add_people(site, name))
    site["login"].run("apt-get update; apt-get install hai-cli")
    everywhere(NODES, lambda name: site[name].run("apt-get update; apt-get install hai-agent python3-hai"))
    first_words(site)
    everywhere(NODES, lambda name: join(site, name, site.join_line))
    wait("all nodes are up", lambda: nodes_up(site) == len(NODES), 120, pause=1)
    say("four nodes joined, by the one line that `hai node token create` prints")


# ---- the store

def prepare_store(site, name):
    machine = site[name]
    machine.write("root/secret", SECRET + "\n")
    words = {f"ADDRESS_{number}": site[other].address for number, other in enumerate(STORES, start=1)}
    commands = fill(block("ha-store.md", "hai-store-setup db1"), NETWORK=f"{SUBNET}.0/24", **words)
    machine.run(f"cd; {commands}")


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
    first, second = (site[name] for name in SERVERS)
    commands = block("ha-store.md", "hai-server setup --database")
    passfile, setup = fill(commands, PASSWORD=site.password).splitlines()
    first.run(passfile)
    names = "--yes --cluster site --names {} {}"
    first.run(f"{setup} {names.format(first.name, first.address)}", seconds=180)
    export = lines(block("setup.md", "--export-bundle"), "--export-bundle", "--export-bundle").rstrip(" |\n")
    bundle = first.run(export.replace("host=db1,db2 ", "host=db1,db2,db3 ")).stdout
    second.run(
        f"hai-server setup --bundle - {names.format(second.name, second.address)}".replace("--cluster site ", ""),
        stdin=bundle, seconds=180,
    )  # fmt: skip
    site.token = (first.root / "etc/hai/admin.token").read_text().strip()


def first_words(site):
    """On the machine where people work: the administrator, the people, the line for nodes."""
    login = site["login"]
    login.write("etc/hai/ca.crt", (site["server-1"].root / "etc/hai/ca/ca.crt").read_text())
    urls = " ".join(f"--url https://{name}:7700" for name in SERVERS)
    login.run(f"hai init - {urls} --ca /etc/hai/ca.crt", stdin=site.token)
    login.run("hai user add --csv -", stdin="name,groups\n" + "".join(f"{name},\n" for name in PEOPLE))
    site.join_line = login.says("hai node token create 'node-[1-4]' --ttl 1h --uses 4").splitlines()[0]
    site.tokens = {}
    for name in PEOPLE:
        said = login.says(f"hai token create --user {name} -o json")
        site.tokens[name] = re.search(r'"secret": *"([^"]+)"', said).group(1)


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
