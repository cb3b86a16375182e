#!/usr/bin/env python3
"""The real system under random faults, judged by what its jobs wrote down themselves.

usage: run.py [--seconds 600] [--seed N] [--nodes 20] [--keep]

docs/operations/chaos.md says what it does. The exit code is 0 if every check holds, 77 where it
cannot run.
"""

import argparse
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

import sandbox

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent.parent
SETTLE_SECONDS = 240


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600, help="of faults and submits")
    parser.add_argument("--seed", type=int, default=None, help="of faults and jobs; random if none")
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--rate", type=float, default=2.0, help="jobs a second")
    parser.add_argument("--pace", type=float, default=2.0, help="mean seconds between two faults")
    parser.add_argument("--faults", default="", help="only these kinds, by comma")
    parser.add_argument("--schedule", action="store_true", help="print the faults and do nothing")
    parser.add_argument("--keep", action="store_true", help="keep logs and ledgers")
    return parser.parse_args()


def programs():
    """$HAI_BIN, as ctest sets it, or the newest build."""
    if os.environ.get("HAI_BIN"):
        return pathlib.Path(os.environ["HAI_BIN"])
    found = [path.parent for path in REPOSITORY.glob("build/*/bin/hai-server")]
    if not found:
        print("skipped: no build found; set HAI_BIN to the folder of hai-server")
        sys.exit(sandbox.SKIPPED)
    return max(found, key=lambda folder: (folder / "hai-server").stat().st_mtime)


def say(text):
    print(text, flush=True)


def storm(world, load, injector, seconds):
    """Load and faults, side by side."""
    load.start()
    injector.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        world.supervise()
        time.sleep(0.25)
    load.stop()
    injector.stop()


def settle(world, load, seconds):
    """Everything is whole again: each job must end. Gives those that did not."""
    world.wait_leading(60)
    load.ask_again()
    world.wait_up(60)
    load.settle()
    end = time.monotonic() + seconds
    while True:
        world.supervise()
        left = world.admin.call("GET", "/api/v1/jobs?limit=1000", seconds=30)["jobs"]
        if all(is_stuck(job) for job in left) or time.monotonic() > end:
            return left
        time.sleep(0.5)


def is_stuck(job):
    """Waits for a job that has failed: whoever waits for it waits in vain."""
    return (job["pending_reason"] or {}).get("code") == "dependency_failed"


def play(options, root):
    from faults import KINDS, Injector, plan_faults
    from judge import Judge
    from load import Load
    from report import events_around, summarise, verdict
    from truth import Truth
    from world import World, boot_now

    world = World(root, programs(), options.nodes)
    for kind in KINDS:
        if options.faults and kind not in options.faults.split(","):
            KINDS[kind] = (0, *KINDS[kind][1:])
    faults = plan_faults(
        options.seed, options.seconds, world.nodes, world.leaves, world.small_disk, options.pace
    )
    if options.schedule:
        say("\n".join(map(str, faults)))
        return True
    began = time.monotonic()
    times = {}

    def lap(name):
        nonlocal began
        times[name] = time.monotonic() - began
        began = time.monotonic()
        say(f"{name}: {times[name]:.1f} s")

    good = False
    try:
        world.create()
        lap("start")
        load = Load(world, options.seed, options.seconds, options.rate, options.nodes * 2)
        injector = Injector(world, faults)
        storm(world, load, injector, options.seconds)
        lap("storm")
        left = settle(world, load, SETTLE_SECONDS)
        lap("settle")
        truth = Truth(world.postgres)
        judge = Judge(world, load, faults, truth, world.knows_peers)
        judge.judge()
        judge.complain("all jobs end once all is whole", [describe(world, job) for job in left])
        judge.complain("the run itself works", injector.errors + load.errors)
        judge.complain("no program ends by itself", world.surprises_that_matter())
        if not judge.verify_log():
            say("hai-server verify is not there yet: not asked")
        around = "" if judge.is_content() else events_around(world.postgres, judge.complaints)
        judge.complain("programs stop when asked", world.stop())
        judge.check_leftovers({1, os.getpid()})
        lap("judge")
        text, good = verdict(judge.complaints)
        say(f"\nseed {options.seed}\n{summarise(judge, world, load, faults, times)}\n\n{text}")
        if not good:
            say("\nfaults:\n" + "\n".join(map(str, faults)) + "\n\n" + around)
        say(f"\nverdict: {'good' if good else 'FAILED'} (seed {options.seed}, now {boot_now():.1f})")
    finally:
        world.close()
    return good


def describe(world, job):
    why = world.hai.run("why", job["id"]).stdout
    return f"job {job['id']} {job['name']} {job['state']} held={job['held']}: {why}"


def main():
    options = parse()
    if not options.schedule:
        sandbox.enter()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1_000_000)
    threading.stack_size(1 << 20)
    root = pathlib.Path(tempfile.mkdtemp(prefix="hai-chaos-"))
    say(f"seed {options.seed}, {options.seconds:.0f} s, {options.nodes} nodes, below {root}")
    good = False
    try:
        good = play(options, root)
    finally:
        if options.keep or (not good and not options.schedule):
            (root / "postgres.image").unlink(missing_ok=True)
            say(f"logs and ledgers are kept in {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
