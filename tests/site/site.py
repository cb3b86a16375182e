#!/usr/bin/env python3
"""A site of ten booted machines under a steady stream of jobs, installed from packages by the documented
commands, whose machines are switched off, cut off, filled and upgraded. run.sh makes what it begins with.

usage: site.py --work DIR --tree DIR --old DIR --new DIR [--faults NAME,...] [--random SECONDS]
       [--seed NUMBER] [--restore] [--list] [--install-only]

Each fault once, then faults by chance for ten minutes. After each fault every acknowledged submit must be there once, ledgers of jobs must not overlap, and no
attempt may have been lost but of a node that was switched off. A training goes on beside them and
must end bit for bit as it does alone. Prints a table; 0 if all holds.
"""

import pathlib
import random
import re
import subprocess
import sys
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "e2e" / "chaos"), str(HERE.parent / "e2e" / "ha_store")]

import ha_load  # noqa: E402
import sandbox  # noqa: E402
from client import Client  # noqa: E402
from ha_load import JOB_EVERY_SECONDS, PAUSE_SECONDS, Stream, probes  # noqa: E402
from install import NODES, PEOPLE, SERVERS, STORES, install, nodes_up, store_is_whole  # noqa: E402
from machines import Machines, options_of  # noqa: E402
from site_clocks import LIBRARY, give_clocks  # noqa: E402
from site_faults import FAULTS  # noqa: E402
from site_judge import SiteJudge  # noqa: E402
from site_restore import restore  # noqa: E402
from site_training import EXAMPLES, Training  # noqa: E402
from world import wait  # noqa: E402

CALM_SECONDS = 4.0
RANDOM_SECONDS = 600.0
FAULT_SECONDS = 30.0  # about as long takes one, with what is before and after it
WHOLE_SECONDS = 240


def say(text):
    print(f"{time.monotonic() - say.began:5.0f} s  {text}", flush=True)


say.began = time.monotonic()


class Site(Machines):
    """Looks to the judge and the streams of ha_store as their world does."""

    def __init__(self, work, tree):
        super().__init__(work, tree, [*STORES, *SERVERS, *NODES, "login"])
        # A place of its own in this process's mounts: machines empty /tmp when they boot.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/srv"], check=True)
        self.root = pathlib.Path("/srv/hai-site")
        self.ledgers = self.root / "ledgers"
        self.surprises = []
        for folder in (self.root, self.ledgers, self.root / "backup"):
            folder.mkdir(parents=True)
            folder.chmod(0o777)
        chaos = HERE.parent / "e2e" / "chaos"
        self.shared += [f"{self.root}:{self.root}", f"{chaos}:{chaos}", f"{self.root}/backup:/mnt/backup"]
        self.shared.append(f"{EXAMPLES}:{EXAMPLES}")
        if LIBRARY is not None:
            self.shared.append(f"{LIBRARY.parent}:{LIBRARY.parent}")
        self.postgres = types.SimpleNamespace(rows=self.rows)

    # -- as the judge asks

    def client(self, token, timeout=6):
        servers = [f"{self.network.address(name)}:7780" for name in SERVERS]
        ca = self["server-1"].root / "etc/hai/ca/ca.crt"
        return Client(servers, token, ca, timeout=timeout)

    @property
    def admin(self):
        return self.client(self.token)

    def rows(self, query):
        hosts = ",".join(self.network.address(name) for name in STORES)
        words = f"host={hosts} dbname=hai user=hai password={self.password}"
        words += " target_session_attrs=read-write sslmode=require"
        done = subprocess.run(
            ["psql", words, "-AtX", "-F", "\t", "-c", query], check=True, capture_output=True, text=True
        )
        return [line.split("\t") for line in done.stdout.splitlines()]

    def verify(self):
        said = self[SERVERS[0]].run("runuser -u hai -- hai-server verify", check=False)
        return said.returncode == 0, (said.stdout + said.stderr)[-1000:]

    def is_whole(self):
        return store_is_whole(self) and self.leader() and nodes_up(self) == len(NODES)

    def leader(self):
        for name in SERVERS:
            try:
                asked = self.client("", timeout=2)
                address = f"{self.network.address(name)}:7780"
                if asked.ask(address, "GET", "/readyz", None, None)[0] == 200:
                    return name
            except OSError:
                continue
        return None


def workers(site, person):
    """Jobs that run, of one of the people."""
    for name, body, seconds in ha_load.workers(site):
        own = f"{person}-{name}"
        yield own, {**body, "name": own}, seconds


def suffer(site, fault, probe, judge):
    time.sleep(CALM_SECONDS)
    lost_before, missing_before = judge.lost(), set(judge.missing)
    began, began_at = time.monotonic(), time.time()
    fault.begin(site)
    time.sleep(max(0.0, began + fault.seconds - time.monotonic()))
    fault.end(site)
    healed, healed_at = time.monotonic(), time.time()
    wait(f"all is whole after {fault.name}", site.is_whole, WHOLE_SECONDS, pause=1)
    whole = time.monotonic() - healed
    count = len(probe.acknowledged)
    wait("submits are acknowledged", lambda: len(probe.acknowledged) > count + 10, 90)
    gap, _ = probe.longest_gap(began - 1, time.monotonic())
    if fault.takes:
        judge.excuse(fault.takes, began_at, healed_at)
    if fault.keeps_out:
        judge.excuse(fault.keeps_out, began_at, healed_at, "running_at IS NULL")
    complaints, counts = judge.judge()
    complaints += judge.too_long(gap, fault.refused_most)
    row = (
        f"| {fault.what} | **{gap:.1f} s** | {whole:.0f} s | {judge.lost() - lost_before} |"
        f" {len(judge.missing - missing_before)} | {counts[0]} / {counts[1]} |"
        f" {'; '.join(complaints) or 'all holds'} |"
    )
    say(row)
    return row


def skip(fault):
    row = f"| {fault.what} | skipped: {fault.skipped} | | | | | |"
    say(row)
    return row


HEAD = """| what | longest refusal of submits | whole again after its end | attempts lost | submits lost | acknowledged / attempts so far | judgement |
|---|---|---|---|---|---|---|"""


def play(options):
    site = Site(options.work, options.tree)
    site.old, site.new = options.old, options.new
    rows = []
    try:
        site.publish(options.old)
        for machine in site.machines.values():
            machine.create()
        say(f"ten machines booted in {site.boot():.0f} s")
        site.serve_repository()
        install(site, say)
        if LIBRARY is not None:
            give_clocks(site)
            wait("all is whole with clocks of their own", site.is_whole, WHOLE_SECONDS, pause=1)
        probe = Stream(site.client(site.token), probes(site), PAUSE_SECONDS)
        jobs = [
            Stream(site.client(site.tokens[name]), workers(site, name), JOB_EVERY_SECONDS * len(PEOPLE))
            for name in PEOPLE
        ]
        training = Training(site, site.client(site.tokens[PEOPLE[0]]), expected_seconds(options))
        training.run_alone()
        judge = SiteJudge(site, [probe, training.stream, *jobs], people=jobs)
        for stream in (probe, training.stream, *jobs):
            stream.start()
        wait("jobs of all three run", lambda: all(len(stream.acknowledged) > 1 for stream in jobs), 90)
        say("a steady stream of jobs of three people")
        for fault in chosen_faults(options):
            if fault.skipped:
                rows.append(skip(fault))
                continue
            try:
                rows.append(suffer(site, fault, probe, judge))
            except AssertionError as error:
                say(f"{fault.name}: {error}")
                judge.complaints.append(f"{fault.name}: {error}")
        if options.restore:
            restore(site, judge, probe, jobs, say)
        for stream in (probe, *jobs):
            stream.stop()
        wait("all jobs end", lambda: ended(site, jobs), 180, pause=1)
        wait("the training ends", training.has_ended, 600, pause=1)
        complaints, counts = judge.judge(is_end=True)
        complaints += training.complaints()
        judge.complaints += training.complaints()
        say(f"at the end, {counts[0]} acknowledged, {counts[1]} attempts: {complaints or 'all holds'}")
        say("\n" + HEAD + "\n" + "\n".join(rows))
        good = not judge.complaints
        say(f"verdict: {'good' if good else 'FAILED'}")
        return good
    except BaseException:
        site.diagnose()
        raise
    finally:
        site.close()


def chosen_faults(options):
    """Each that is wanted once, in order, then any of those that come and go for as long as is wanted."""
    wanted = options.faults.split(",") if options.faults else [fault.name for fault in FAULTS]
    yield from (fault for fault in FAULTS if fault.name in wanted and not options.install_only)
    chance = random.Random(options.seed)
    end = time.monotonic() + random_seconds(options)
    while time.monotonic() < end:
        yield chance.choice([fault for fault in FAULTS if fault.seconds > 0 and not fault.skipped])


def random_seconds(options):
    if options.random is not None:
        return options.random
    return 0 if options.faults or options.install_only else RANDOM_SECONDS


def expected_seconds(options):
    """Of all faults: for so long the training is to go on beside them."""
    count = len(options.faults.split(",")) if options.faults else len(FAULTS)
    return (0 if options.install_only else FAULT_SECONDS * count) + random_seconds(options)


def ended(site, streams):
    states = {job["id"]: job["state"] for job in site.admin.jobs()}
    wanted = [submit.answers[0] for stream in streams for submit in stream.acknowledged]
    return all(states.get(job) in ("succeeded", "failed", "stopped") for job in wanted)


def main():
    parser = options_of(__doc__)
    parser.add_argument("--faults", default="", help="only these, by comma; all if none")
    parser.add_argument("--list", action="store_true", help="name the faults and do nothing")
    parser.add_argument("--random", type=float, help="then faults by chance, for so many seconds: 600, or none"
                        " with --faults")  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, help="which faults these are")
    parser.add_argument("--restore", action="store_true", help="restore the store to a moment at the end")
    parser.add_argument("--install-only", action="store_true", help="no faults")
    options = parser.parse_args()
    if options.list:
        for fault in FAULTS:
            print(f"{fault.name:16} {fault.what}" + (f" (skipped: {fault.skipped})" if fault.skipped else ""))
        return 0
    sandbox.enter()
    return 0 if play(options) else 1


if __name__ == "__main__":
    sys.exit(main())
