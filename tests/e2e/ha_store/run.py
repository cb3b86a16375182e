#!/usr/bin/env python3
"""hai on a highly available store (docs/operations/ha-store.md) whose machines are lost, one after the other.

usage: run.py [--faults NAME,...] [--no-restore] [--list] [--keep]

Three etcd and three Patroni with PostgreSQL 15, two hai-servers and four agents, each in a network
namespace; a steady stream of submits and running jobs. After each fault everything acknowledged must
be there once, and no attempt may have run twice or been lost. At the end the store is destroyed and
restored to a moment from pgBackRest's repository. Prints a table. The exit code is 0 if all holds, 77
where it cannot run.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "chaos"))

import ha_machines  # noqa: E402
import sandbox  # noqa: E402
from ha_faults import FAULTS  # noqa: E402
from ha_judge import Judge  # noqa: E402
from ha_load import JOB_EVERY_SECONDS, PAUSE_SECONDS, Stream, probes, workers  # noqa: E402
from ha_restore import restore  # noqa: E402
from ha_world import HaWorld  # noqa: E402
from world import wait  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent.parent
NODES = 4
WHOLE_WITHIN = 150.0
CALM = 4.0  # of submits before a fault, so that its gap has a beginning


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", default="", help="only these, by comma; all if none")
    parser.add_argument("--list", action="store_true", help="name the faults and do nothing")
    parser.add_argument("--no-restore", action="store_true", help="leave out the restore at the end")
    parser.add_argument("--keep", action="store_true", help="keep logs and ledgers")
    return parser.parse_args()


def say(text):
    print(text, flush=True)


def suffer(world, fault, probe, judge):
    """One fault, until all is whole again: a row of the table."""
    before = len(probe.acknowledged)
    wait("submits are acknowledged", lambda: len(probe.acknowledged) > before + 5, 60)
    time.sleep(CALM)
    began = time.monotonic()
    lost = fault.begin(world)
    elected = elect(world, lost, began) if lost else None
    while time.monotonic() < began + fault.seconds:
        world.supervise()
        time.sleep(0.2)
    fault.end(world)
    healed = time.monotonic()
    world.store.wait_whole(WHOLE_WITHIN)
    world.wait_leading(60)
    world.wait_up(90)
    whole = time.monotonic() - healed
    count = len(probe.acknowledged)
    wait("submits are acknowledged again", lambda: len(probe.acknowledged) > count + 10, 90)
    gap, _ = probe.longest_gap(began - 1, time.monotonic())
    complaints, counts = judge.judge()
    row = (fault.what, gap, elected, whole, *counts, "; ".join(complaints) or "all holds")
    say(f"{fault.name}: {row_text(row)}")
    for complaint in complaints:
        say(f"  {complaint}")
    return row


def elect(world, lost, began):
    """Seconds until another machine is the primary; the old one may still take itself for one."""
    def another():
        return any(
            machine is not lost and machine.ask("/primary", seconds=0.5)[0] == 200
            for machine in world.store.machines.values()
        )

    wait("another machine is the primary", another, 60, pause=0.05)
    return time.monotonic() - began


def row_text(row):
    what, gap, elected, whole, acknowledged, attempts, verdict = row
    new = f"{elected:.1f} s" if elected is not None else "—"
    return f"| {what} | {new} | **{gap:.1f} s** | {whole:.0f} s | {acknowledged} / {attempts} | {verdict} |"


HEAD = """| what | another primary after | longest refusal of submits | whole again after its end | acknowledged / attempts so far | judgement |
|---|---|---|---|---|---|"""


def play(options, root, programs):
    wanted = options.faults.split(",") if options.faults else [fault.name for fault in FAULTS]
    world = HaWorld(root, programs, NODES)
    rows = []
    good = False
    try:
        began = time.monotonic()
        world.create()
        say(f"the store, two servers and {NODES} agents are up after {time.monotonic() - began:.0f} s")
        token = (root / "admin.token").read_text().strip()
        probe = Stream(world.client(token, timeout=6), probes(world), PAUSE_SECONDS)
        jobs = Stream(world.client(token, timeout=6), workers(world), JOB_EVERY_SECONDS)
        judge = Judge(world, [probe, jobs])
        probe.start()
        jobs.start()
        for fault in FAULTS:
            if fault.name in wanted:
                rows.append(suffer(world, fault, probe, judge))
        if not options.no_restore:
            restore(world, judge, probe, jobs, say)
        for stream in (probe, jobs):
            if stream.is_alive():
                stream.stop()
        world.wait_workers(jobs, 120)
        complaints, counts = judge.judge(is_end=True)
        say(f"at the end, {counts[0]} acknowledged, {counts[1]} attempts: {complaints or 'all holds'}")
        judge.complaints += world.stop()
        good = not judge.complaints
        say("\n" + HEAD + "\n" + "\n".join(map(row_text, rows)))
        say(f"\nverdict: {'good' if good else 'FAILED'}")
        for complaint in judge.complaints:
            say(f"  {complaint}")
    finally:
        world.close()
    return good


def find_programs():
    """$HAI_BIN, as ctest sets it, or the newest build; None if there is none."""
    if os.environ.get("HAI_BIN"):
        return pathlib.Path(os.environ["HAI_BIN"])
    found = [path.parent for path in REPOSITORY.glob("build/*/bin/hai-server")]
    return max(found, key=lambda folder: (folder / "hai-server").stat().st_mtime, default=None)


def main():
    options = parse()
    if options.list:
        say("\n".join(f"{fault.name:16} {fault.what}" for fault in FAULTS))
        return 0
    programs = find_programs()
    reason = ha_machines.why_not() or ("" if programs else "no build found: set HAI_BIN")
    if reason:
        say(f"skipped: {reason}")
        return sandbox.SKIPPED
    sandbox.enter()
    root = pathlib.Path(tempfile.mkdtemp(prefix="hai-ha-"))
    say(f"below {root}")
    good = False
    try:
        good = play(options, root, programs)
    finally:
        if options.keep or not good:
            say(f"logs and ledgers are kept in {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
