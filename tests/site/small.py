#!/usr/bin/env python3
"""A site of four booted machines, a server with PostgreSQL, one beside it, two nodes, from bare Debians to a
purge, by the commands that docs/operations has. run.sh --small makes what it begins with.

usage: small.py --work DIR --tree DIR --old DIR --new DIR

A job of an ordinary user runs on both nodes. It lives through restarts, hung programs and an
upgrade of hai, and begins again when a machine is switched off or rebooted. 0 if all holds.
"""

import concurrent.futures
import functools
import json
import pathlib
import re
import shlex
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e" / "chaos")]

import doc  # noqa: E402
import sandbox  # noqa: E402
from install import SLURM, doc_line, step_people, versions  # noqa: E402
from machines import Machines, options_of  # noqa: E402
from world import wait  # noqa: E402

SERVER, OTHER, NODES = "server-1", "server-2", ("node-1", "node-2")
USER = "ann"
PACKAGES = "hai-server hai-agent hai-cli hai-slurm hai-web python3-hai"
BEAT = "echo $HAI_ATTEMPT $$ > pid; while :; do date +%s%N > alive; sleep 0.1; done"


def say(text):
    print(f"{time.monotonic() - say.began:5.0f} s  {text}", flush=True)


say.began = time.monotonic()


def expect(what, expected, found):
    if expected != found:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


class Site(Machines):
    def __init__(self, work, tree):
        super().__init__(work, tree, [SERVER, OTHER, *NODES])

    @property
    def server(self):
        return self[SERVER]

    @property
    def nodes(self):
        return [self[name] for name in NODES]

    def everywhere(self, act, names=None):
        """On all machines at once, as an operator with many terminals does."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return list(pool.map(act, [self[name] for name in names or self.machines]))

    def hai(self, words, user="root"):
        as_user = f"runuser -u {user} -- env --chdir=/home/{user} HOME=/home/{user}"
        return self.server.says(f"{as_user if user != 'root' else ''} hai {words}")

    def nodes_up(self):
        said = self.server.says("hai nodes -o json", check=False)
        return len(re.findall(r'"liveness": *"up"', said))

    def wait_up(self, what):
        wait(f"both nodes are up {what}", lambda: self.nodes_up() == len(NODES), 90, pause=0.3)


# ---- from bare machines to a cluster

def install(site):
    def act(machine):
        mark = "# the first server" if machine.name == SERVER else "# nodes"
        machine.run(f"{doc_line('install.md', mark)}\n{doc_line('install.md', SLURM)}")

    # All but the further server, which is reached from the first one.
    site.everywhere(act, [SERVER, *NODES])
    for machine in (site.server, *site.nodes):
        unit = "hai-server" if machine.name == SERVER else "hai-agent"
        expect(f"{unit} before it is configured", "inactive", state(machine, unit))


def set_up(site):
    server = site.server
    # It asks, as it would at a terminal: Enter takes each default.
    said = server.says(f"yes '' | head -n 9 | script -qec '{doc.step(1)}' /dev/null")
    if "is set up. hai-server.service runs." not in said:
        raise AssertionError(f"setup says {said}")
    add_server(site)
    for node in site.machines.values():
        node.run(f"useradd --create-home --uid 2001 {USER}")
    server.run("cd; " + doc.step(3).replace(step_people(), USER))
    said = server.says(f"hai token create --user {USER} --label laptop")
    server.write(f"home/{USER}/token", re.search("hai_[0-9a-f]+", said).group())
    site.hai(f"{site.elsewhere.removeprefix('hai ')} < /home/{USER}/token", USER)


def add_server(site):
    """A further one, with a database that only the first one's machine has reached so far."""
    for _ in range(2):  # again: all is done, and nothing is done twice
        said = site.server.says(doc.fill(doc.step(2), **{"1250": "2"}), seconds=300)
        if "is set up. hai-server.service runs." not in said:
            raise AssertionError(f"the further server says {said}")
    expect("the further server", "active", state(site[OTHER], "hai-server"))
    lines = site.server.says("grep -c '^hostssl hai hai' /etc/postgresql/15/main/pg_hba.conf")
    expect("PostgreSQL's lines for it", "1", lines)
    # Not in the data directory, of which there are copies.
    site.server.run("test -f /etc/postgresql/15/main/hai.pem -a ! -e /var/lib/postgresql/15/main/hai.pem")
    site.server.run("cd /etc/hai/ca; openssl verify -CAfile ca.crt /etc/postgresql/15/main/hai.pem postgresql.crt")
    site[OTHER].run("grep -q 'sslmode=verify-full sslrootcert=' /etc/hai/server.yaml")
    query = "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0"
    ways = f'runuser -u postgres -- psql -Atc "{query}"'
    wait("the further server speaks TLS with PostgreSQL", lambda: site.server.says(ways).strip() == "t", 30)
    site.join_line = re.search("^ *(hai-agent join .*)$", said, re.M).group(1)
    site.elsewhere = re.search("^ *(hai init - .*)$", said, re.M).group(1)


def take_over(site, job):
    """Without the first server, nodes, people and `hai` find the other one by themselves."""
    site.server.run("systemctl stop hai-server")
    job.expect_same("a stop of the first server")
    site.server.run("systemctl start hai-server")


def join(site):
    documented = doc.step(4)
    doc.check_like(documented, site.join_line)
    line = site.join_line + documented[documented.index(" --table"):]
    rows = ["name,group,zone,leaf", *(f"{name},training,A,leaf-{name[-1]}" for name in NODES)]

    def act(machine):
        machine.write("root/nodes.csv", "\n".join(rows) + "\n")
        join_whole(machine, line) if machine.name == NODES[0] else start_node(machine, line)

    site.everywhere(act, NODES)
    site.wait_up("after the join")
    said = site.server.says(doc.step(5))
    if "ok    server  port" not in said or "ok    client  server" not in said:
        raise AssertionError(f"hai doctor says {said}")
    for node in site.nodes:
        node.run("hai-agent doctor")


# GPUs are not real here, and machines in machines have no control groups to give away.
NOT_REAL = "simulate_gpus: 8\nisolation: shared\n"


def join_whole(machine, line):
    """The documented line and nothing else, on a machine whose image has an agent.yaml: join keeps it."""
    machine.write("etc/hai/agent.yaml", f"""group: training
zone: A
leaf: leaf-{machine.name[-1]}
data_dir: /var/lib/hai/agent
servers: {json.dumps(line.split()[2].split(","))}
tls:
  ca: /etc/hai/node-ca.crt
  certificate: /etc/hai/node.pem
  key: /etc/hai/node.pem
{NOT_REAL}""")
    said = machine.says(f"cd; {line}")
    if "hai-agent.service runs, and starts with the machine" not in said:
        raise AssertionError(f"hai-agent join says {said}")
    machine.run("systemctl is-active hai-agent; systemctl is-enabled hai-agent")


def start_node(machine, line):
    """Where join writes agent.yaml, it must not start the agent before what is not real is in it."""
    machine.run(f"cd; {line} --no-start")
    with open(machine.root / "etc/hai/agent.yaml", "a", encoding="utf-8") as file:
        file.write(NOT_REAL)
    machine.run("systemctl enable --now hai-agent")


def state(machine, unit, what="ActiveState"):
    return machine.says(f"systemctl show {unit} --property={what} --value")


# ---- the job

class Job:
    """Of an ordinary user, on both nodes: each rank says who it is and that it is alive."""

    def __init__(self, site):
        self.site = site
        said = site.hai(f"exec /bin/sh -c '{BEAT}' -- --nodes 2 --gpus 8 -o json", USER)
        self.id = json.loads(said)["id"]
        self.attempt = 1
        self.ranks = {}
        self.wait_runs(1)

    def attempt_now(self):
        said = json.loads(self.site.hai(f"status {self.id} -o json", USER))
        return said["attempt_state"], said["attempt"]

    def file(self, node, name):
        path = node.root / "home" / USER / name
        return path.read_text().strip() if path.exists() else ""

    def wait_runs(self, attempt):
        runs = "running", attempt
        wait(f"attempt {attempt} runs", lambda: self.attempt_now() == runs, 120, pause=0.3)
        nodes = self.site.nodes
        wait("its ranks write", lambda: all(self.beats(node, attempt) for node in nodes), 30)
        self.attempt = attempt
        self.ranks = {node.name: self.pid(node) for node in nodes}

    def beats(self, node, attempt):
        is_now = time.time() - int(self.file(node, "alive") or 0) / 1e9 < 2
        return is_now and self.file(node, "pid").startswith(f"{attempt} ")

    def pid(self, node):
        return self.file(node, "pid").split()[1]

    def expect_same(self, what):
        """The very processes, and they have just said so; of the same attempt."""
        self.site.wait_up(f"after {what}")
        for node in self.site.nodes:
            lives = functools.partial(self.beats, node, self.attempt)
            wait(f"the rank on {node.name} lives on after {what}", lives, 10)
            expect(f"rank on {node.name} after {what}", self.ranks[node.name], self.pid(node))
        expect(f"attempt after {what}", ("running", self.attempt), self.attempt_now())

    def shell(self, rank, script):
        return self.site.hai(f"shell {self.id} -r {rank} -- sh -c '{script}'", USER)

    def is_alive(self, node, pid):
        return node.run(f"test -e /proc/{pid}", check=False).returncode == 0


def look_into(job):
    """`hai shell` is the job's user beside each rank, in its control group."""
    told = sorted(job.shell(rank, "hostname; id -un").split() for rank in (0, 1))
    expect("who the shells are", [[name, USER] for name in NODES], told)
    for node in job.site.nodes:
        group = node.says(f"cat /proc/{job.ranks[node.name]}/cgroup")
        if ":/hai.slice/hai-ranks.service/" not in group:
            raise AssertionError(f"a rank is in the control group {group}")


# ---- what it must live through

def restart(site, job):
    for node in site.nodes:
        node.run("systemctl restart hai-agent")
    job.expect_same("a restart of the agents")
    knows_its_boot(site)
    reload(site)
    job.expect_same("a reload")
    journal(site, job)


def knows_its_boot(site):
    """By the boot a server started again knows that the lease is of its dead predecessor, though its unit hides it."""
    holder = site.server.says("runuser -u postgres -- psql -Atc 'SELECT holder_process FROM cluster_epoch' hai")
    boots = [machine.says("tr -d - < /proc/sys/kernel/random/boot_id").strip() for machine in (site.server, site[OTHER])]
    if holder.split("/")[0] not in boots:
        raise AssertionError(f"the lease is of {holder}, the servers' boots are {boots}")


def reload(site):
    """What may change is taken, the rest waits and is named; a file with an error changes nothing."""
    for machine, name in ((site.server, "server"), (site.nodes[0], "agent")):
        config, unit = f"/etc/hai/{name}.yaml", f"hai-{name}"
        pid = state(machine, unit, "MainPID")
        for change, event, line in (
            ("cp -p {0} /etc/hai/kept; echo 'log: {{level: debug}}' >> {0}", "config_reloaded", "taken=log.level$"),
            ("echo 'log: {{level: info}}' >> {0}", "config_not_reloaded", "is here twice"),
            ("mv /etc/hai/kept {0}", "config_reloaded", "taken=log.level$"),
        ):
            reload_says(machine, unit, change.format(config), event, line)
        expect(f"{unit} after its reloads", pid, state(machine, unit, "MainPID"))


def reload_says(machine, unit, change, event, line):
    said = f"journalctl --no-pager -q -o cat -u {unit} HAI_EVENT={event} | grep -c '{line}' || true"
    before = int(machine.says(said))
    machine.run(f"{change}\nsystemctl reload {unit}")
    wait(f"{unit} says {event} {line}", lambda: int(machine.says(said)) > before, 30, pause=0.2)


def journal(site, job):
    """Its fields: the life of the job, wherever it was led."""
    kinds = "".join(
        machine.says(f"journalctl --no-pager -o cat -u hai-server HAI_JOB={job.id} | cut -d' ' -f1,2")
        for machine in (site.server, site[OTHER])
    )
    for line in (f"job_submitted job={job.id}", f"attempt_placed job={job.id}"):
        if line not in kinds:
            raise AssertionError(f"the journals of the servers have of the job: {kinds}")
    none = site.server.says("journalctl --no-pager -o cat -q -u hai-server HAI_JOB=999999")
    expect("a job that never was", "", none)


def hang(machine, unit):
    """It stands still until its watchdog barks."""
    folder = f"/run/systemd/system/{unit}.service.d"
    machine.run(f"mkdir {folder}; printf '[Service]\\nWatchdogSec=2s\\n' > {folder}/test.conf")
    machine.run(f"systemctl daemon-reload; systemctl restart {unit}")
    before = state(machine, unit, "NRestarts")
    machine.run(f"kill -STOP {state(machine, unit, 'MainPID')}")
    is_new = lambda: state(machine, unit, "NRestarts") > before  # noqa: E731
    wait(f"{unit} is started again", is_new, 60, pause=0.3)
    machine.run(f"journalctl --no-pager -u {unit} | grep -q 'Watchdog timeout'")


def timers(site):
    """A backup, by the timer that setup has enabled on its machine alone, and the archive, as setup has
    configured it; without that nothing is done, nor failed."""
    server = site.server
    config = "/etc/hai/server.yaml"
    server.run(f"cp -p {config} /etc/hai/kept && sed -i '/^archive:/,/^  dir:/d' {config}")
    for name, timer, expected in (
        (SERVER, "hai-backup", "enabled active"),
        (SERVER, "hai-archive", "disabled inactive"),
        (OTHER, "hai-backup", "disabled inactive"),
    ):
        found = [state(site[name], f"{timer}.timer", what) for what in ("UnitFileState", "ActiveState")]
        expect(f"{timer}.timer on {name} after setup", expected, " ".join(found))
    server.run("systemctl enable --now hai-archive.timer")
    server.run("systemctl start hai-backup.service hai-archive.service")
    server.run("runuser -u hai -- hai-backup list | grep -q '/var/backups/hai/hai-.*dump'")
    why = state(server, "hai-archive", "Result")
    expect("an archive of which the config says nothing", "exec-condition", why)
    server.run(f"mv /etc/hai/kept {config}")
    server.run("systemctl start hai-archive.service")
    server.run("journalctl --no-pager -u hai-archive -o cat | grep -q 'nothing is older than 90d'")
    expect("failed units", "", server.says("systemctl list-units --failed --no-legend 'hai*'"))


def stop_machines(site, job):
    first, second = site.nodes
    second.reboot()
    after_stop(site, job, first, "a reboot")
    site.nodes[0].shut_down()
    wait("the node is not up", lambda: site.nodes_up() == 1, 60, pause=0.3)
    first.boot()
    first.wait_booted()
    after_stop(site, job, second, "a time without power")


def after_stop(site, job, other, what):
    old = job.ranks[other.name]
    site.wait_up(f"after {what}")
    job.wait_runs(job.attempt + 1)
    if job.is_alive(other, old):
        raise AssertionError("a rank of the attempt before is alive")


def upgrade(site, new, job):
    """docs/operations/upgrade.md: the server, nodes, people."""
    server_before = state(site.server, "hai-server", "MainPID")
    site.publish(new)
    commands = doc.upgrade_commands()
    site.server.run(f"{commands['packages']}\n{commands['migrate']}")
    site[OTHER].run(commands["packages"])
    job.expect_same("an upgrade of the servers")

    def act(machine):
        if machine.name in NODES:
            machine.run(commands["packages"])
        expect(f"versions on {machine.name}", new.name, versions(machine))
        if machine.name != OTHER:
            machine.run("dpkg-query -W hai-slurm")

    site.everywhere(act)
    job.expect_same("an upgrade of the nodes")
    if state(site.server, "hai-server", "MainPID") == server_before:
        raise AssertionError("the server was not restarted")


def rename(site, job):
    """A node gets another name, as setup.md says."""
    old, new = NODES[1], "node-3"
    block = doc.block("setup.md", "hai node remove OLD").replace("OLD", old).replace("NEW", new)
    drain, leave, take_out, let_in = (line.split(" #")[0].strip() for line in block.splitlines())
    site.server.run(drain)
    wait("the job has left", lambda: job.attempt_now()[0] != "running", 90)
    site.server.run(leave)
    wait("it is removed", lambda: site.server.run(take_out, check=False).returncode == 0, 90, pause=1)
    start_node(site[old], f"{site.server.says(let_in).splitlines()[0]} --name {new} --group training --zone A")
    job.wait_runs(job.attempt + 1)
    names = site.server.says("hai nodes | awk 'NR > 1 { print $1 }' | sort | paste -sd ' '")
    expect("the nodes' names", f"{NODES[0]} {new}", names)


# ---- and away again

def remove(site, job):
    def act(machine):
        mine = processes(machine)
        if not mine:
            raise AssertionError("no process of hai is seen while it runs")
        machine.run("apt-get remove hai-agent hai-server")
        expect(f"{machine.name}: processes after the removal", "", processes(machine))

    site.everywhere(act)
    for node in site.nodes:
        if job.is_alive(node, job.ranks[node.name]):
            raise AssertionError("the job lives without hai")
        node.run("test -e /etc/hai/agent.yaml -a -e /etc/hai/node.pem")
    expect("the timer after the removal", "inactive", state(site.server, "hai-backup.timer"))
    site.server.run("test -e /etc/hai/server.yaml -a -e /etc/hai/ca/ca.key")


def processes(machine):
    return machine.says("""
        for program in /proc/[0-9]*/exe; do readlink "$program" || true; done | grep '/hai' || true
        ! uid=$(id -u hai) || find /proc -maxdepth 1 -name '[0-9]*' -uid "$uid" -print""")


def purge_server_beside_agent(site):
    """Of one that is a node, too, only the server's own goes."""
    server = site.server
    server.run("apt-get install hai-agent; cd /etc/hai; cp -a admin.token made-by-hand")
    server.run("cd /etc/hai; echo 'name: node-3' > agent.yaml; touch agent.token; chown hai: .")
    server.run("apt-get purge hai-server")
    left = server.says("ls /etc/hai | paste -sd ' '")
    expect("what is left", "agent.token agent.yaml made-by-hand", left)
    expect("owners in /etc/hai", "root", server.says("find /etc/hai -printf '%u\\n' | sort -u"))
    server.run("! getent passwd hai; ! getent group hai")


def purge(site):
    def act(machine):
        machine.run(f"apt-get purge {PACKAGES}")
        left = machine.says("""
            find /etc /usr /lib /var -xdev -path /var/cache -prune -o -name 'hai*' \
              -not -path '/var/lib/apt/*' -not -path '/var/backups/hai/*' \
              -not -path '/var/lib/postgresql/*' \
              -not -path /etc/apt/sources.list.d/hai.list -print""")
        expected = "/etc/postgresql/15/main/hai.pem\n/var/backups/hai" if machine.name == SERVER else ""
        expect(f"left on {machine.name}", expected, left)

    site.everywhere(act)


def play(options):
    site = Site(options.work, options.tree)
    try:
        site.publish(options.old)
        for machine in site.machines.values():
            machine.create()
        say(f"four machines booted in {site.boot():.0f} s")
        site.serve_repository()
        install(site)
        say("packages installed, as install.md says")
        set_up(site)
        say("the server set up, by the commands of setup.md")
        join(site)
        say("two nodes joined, by the line that `hai-server setup` prints")
        story(site, options)
        return True
    except BaseException:
        site.diagnose()
        raise
    finally:
        site.close()


def story(site, options):
    job = Job(site)
    look_into(job)
    say(f"a job of {USER} runs on both, and she has looked into it")
    restart(site, job)
    hang(site.server, "hai-server")
    hang(site.nodes[0], "hai-agent")
    job.expect_same("a hung server and a hung agent")
    say("restarted, and hung")
    take_over(site, job)
    say("the other server has taken over")
    timers(site)
    say("backed up; the archive has nothing to do")
    stop_machines(site, job)
    say("rebooted one node, switched the other one off and on")
    upgrade(site, options.new, job)
    say("upgraded")
    rename(site, job)
    say("a node renamed, as setup.md says")
    remove(site, job)
    purge_server_beside_agent(site)
    purge(site)
    say("removed and purged")


def main():
    parser = options_of(__doc__)
    options = parser.parse_args()
    sandbox.enter()
    return 0 if play(options) else 1


if __name__ == "__main__":
    sys.exit(main())
