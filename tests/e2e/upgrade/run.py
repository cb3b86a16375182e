#!/usr/bin/env python3
"""A cluster goes from one version to the next and back under load, one program after the other, as
docs/operations/upgrade.md promises.

usage: HAI_OLD_BIN=DIR run.py [--keep]     DIR has the programs of the older version: build_old.sh

One PostgreSQL, two servers and four agents, each in a network namespace; a steady stream of submits
and jobs that keep ledgers. All begin as the older version and are exchanged in the documented order,
then taken back to the older one in the wrong order, then brought to the new one again; the command
line of each version asks the servers of the other. After each step everything acknowledged must be
there once, and no attempt may have been lost. Prints a table. The exit code is 0 if all holds, 77
where it cannot run.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "chaos"), str(HERE.parent / "ha_store")]

import sandbox  # noqa: E402
from client import Hai  # noqa: E402
from ha_judge import Judge  # noqa: E402
from ha_load import JOB_EVERY_SECONDS, PAUSE_SECONDS, Stream, probes, workers  # noqa: E402
from world import SERVERS, World, wait  # noqa: E402

NODES = 4
CALM_SECONDS = 4.0  # of submits before a step, so that its gap has a beginning
# A failover that was asked for: the leader gives its lease back, clients find the next one.
REFUSED_SECONDS_MOST = 15.0


def say(text):
    print(text, flush=True)


class Versions(World):
    """A world whose programs are those of one folder or another."""

    def exchange(self, daemon, program, folder):
        """As a package does: stopped, replaced, started."""
        assert daemon.end(signal.SIGTERM), f"{daemon.name} does not end within 15 s of SIGTERM"
        daemon.command = [folder / program, *daemon.command[1:]]
        daemon.start()

    def exchange_server(self, name, folder):
        self.exchange(self.servers[name], "hai-server", folder)
        self.wait_leading(60)
        server = self.servers[name]
        address = f"{self.network.address(name)}:7780"
        client = self.client("", timeout=2)

        def lives():
            try:
                return client.ask(address, "GET", "/livez", None, None)[0] == 200
            except OSError:
                return False

        wait(f"{server.name} answers", lives, 60)

    def exchange_agents(self, nodes, folder):
        for node in nodes:
            agent = self.agents[node]
            before = connections(agent)
            self.exchange(agent, "hai-agent", folder)
            wait(f"{node} is connected", lambda a=agent, n=before: connections(a) > n, 60)
            self.wait_up(60)

    def version(self, folder, program):
        said = subprocess.run([folder / program, "--version"], capture_output=True, text=True)
        return said.stdout.split()[-1]

    def standby(self):
        return next(name for name in SERVERS if name != self.leader())


def connections(agent):
    """How often it was let in, by its log."""
    return agent.log.read_text(errors="replace").count("server_connected")


class Story:
    def __init__(self, world, old, new):
        self.world, self.old, self.new = world, old, new
        token = (world.root / "admin.token").read_text().strip()
        self.probe = Stream(world.client(token, timeout=6), probes(world), PAUSE_SECONDS)
        self.jobs = Stream(world.client(token, timeout=6), workers(world), JOB_EVERY_SECONDS)
        self.judge = Judge(world, [self.probe, self.jobs])
        self.rows = []
        self.verifier = old

    def begin(self):
        self.probe.start()
        self.jobs.start()
        wait("jobs run", lambda: len(self.jobs.acknowledged) > 2, 60)

    def step(self, what, act):
        """One row of the table."""
        time.sleep(CALM_SECONDS)
        began = time.monotonic()
        act()
        self.world.wait_up(60)
        count = len(self.probe.acknowledged)
        wait("submits are acknowledged", lambda: len(self.probe.acknowledged) > count + 10, 60)
        gap, _ = self.probe.longest_gap(began - 1, time.monotonic())
        complaints, counts = self.judge.judge()
        if gap > REFUSED_SECONDS_MOST:
            complaints.append(f"submits were refused for {gap:.1f} s")
            self.judge.complaints.append(complaints[-1])
        row = f"| {what} | **{gap:.1f} s** | {counts[0]} / {counts[1]} | {'; '.join(complaints) or 'all holds'} |"
        self.rows.append(row)
        say(row)

    def servers(self, folder):
        """The standby first: the leader's end is one change of leader."""
        self.world.exchange_server(self.world.standby(), folder)
        self.verifier = folder
        self.world.exchange_server(self.world.leader(), folder)

    def ask(self, folder):
        """What people type every day, with the command line of one version."""
        hai = Hai(folder / "hai", self.world.root / "hai.json")
        job = json.loads(hai.ok("exec", "/bin/true", "--", "--gpus", "1", "-o", "json"))["id"]
        wait(f"job {job} succeeds", lambda: self.state(hai, job) == "succeeded", 60)
        for words in (
            ["list", "-a"],
            ["nodes"],
            ["why", job],
            ["events", job],
            ["logs", job],
            ["user", "set", "zoe"],
            ["quota", "list"],
            ["incidents"],
        ):
            hai.ok(*words)
        self.jobs.tried.add(hai_name(hai, job))

    def state(self, hai, job):
        return json.loads(hai.ok("status", job, "-o", "json"))["state"]


def hai_name(hai, job):
    return json.loads(hai.ok("status", job, "-o", "json"))["name"]


def play(root, old, new):
    world = Versions(root, old, NODES)
    good = False
    try:
        world.create()
        say(f"older {world.version(old, 'hai-server')}, newer {world.version(new, 'hai-server')}")
        story = Story(world, old, new)
        world.verify_programs = lambda: story.verifier
        story.begin()
        first, last = world.nodes[: NODES // 2], world.nodes[NODES // 2 :]
        story.step("the newer `hai` asks older servers", lambda: story.ask(new))
        story.step("servers to the newer, standby first", lambda: story.servers(new))
        story.step("the older `hai` asks newer servers", lambda: story.ask(old))
        story.step("agents of half the nodes to the newer", lambda: world.exchange_agents(first, new))
        story.step("agents of the others", lambda: world.exchange_agents(last, new))
        if has_schema(world, old):
            story.step("the wrong order: servers back, agents newer", lambda: story.servers(old))
            story.step("agents back", lambda: world.exchange_agents(world.nodes, old))
            story.step("the wrong order: agents first", lambda: world.exchange_agents(world.nodes, new))
            story.step("then servers", lambda: story.servers(new))
        else:
            say("the older version does not know this schema: no way back but a backup")
        for stream in (story.probe, story.jobs):
            stream.stop()
        world.wait_workers(story.jobs, 120)
        complaints, counts = story.judge.judge(is_end=True)
        say(f"at the end, {counts[0]} acknowledged, {counts[1]} attempts: {complaints or 'all holds'}")
        story.judge.complaints += world.stop()
        good = not story.judge.complaints
        say("\n| step | longest refusal of submits | acknowledged / attempts so far | judgement |")
        say("|---|---|---|---|\n" + "\n".join(story.rows))
        say(f"\nverdict: {'good' if good else 'FAILED'}")
        for complaint in story.judge.complaints:
            say(f"  {complaint}")
    finally:
        world.close()
    return good


def has_schema(world, folder):
    """Whether that version takes the database as it is now."""
    config = world.root / "server-a.yaml"
    words = [folder / "hai-server", "--config", config, "migrate"]
    return subprocess.run(words, capture_output=True, timeout=60).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="keep logs and ledgers")
    options = parser.parse_args()
    folders = [os.environ.get(name, "") for name in ("HAI_OLD_BIN", "HAI_BIN")]
    for name, folder in zip(("HAI_OLD_BIN", "HAI_BIN"), folders):
        if not (pathlib.Path(folder) / "hai-server").exists():
            say(f"skipped: ${name} is to be a folder with programs (tests/e2e/upgrade/build_old.sh)")
            return sandbox.SKIPPED
    sandbox.enter()
    root = pathlib.Path(tempfile.mkdtemp(prefix="hai-upgrade-"))
    say(f"below {root}")
    good = False
    try:
        good = play(root, *(pathlib.Path(folder).resolve() for folder in folders))
    finally:
        if options.keep or not good:
            say(f"logs and ledgers are kept in {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
