#!/usr/bin/env python3
"""An array on a fleet of full size, of which the server is killed half way and some tasks are stopped by
number before they are made. Judges that each other task has succeeded in one attempt, and prints how long
the submit and the whole took. HAI_BIN says where the programs are.

usage: array_fleet.py [--tasks 10000] [--nodes 1250] [--seconds 5] [--insecure]
"""

import argparse
import collections
import json
import pathlib
import tempfile
import time

from launch_curve import Fleet

STOPPED = 100  # tasks, the last ones


def status(fleet, array):
    try:
        return json.loads(fleet.hai("status", array, "-o", "json"))
    except SystemExit:
        return {"state": "unknown", "array": collections.Counter()}  # the server is away


def judge(fleet, array, tasks):
    """What is not as it should be, as one line each."""
    listed = json.loads(fleet.hai("list", "--array", array, "--finished", "-o", "json"))
    wrong = []
    if sorted(task["array_task"]["index"] for task in listed) != list(range(tasks)):
        wrong.append(f"{len(listed)} tasks are listed, not each of {tasks} once")
    for task in listed:
        is_stopped = task["array_task"]["index"] >= tasks - STOPPED
        wanted = ("stopped", 0) if is_stopped else ("succeeded", 1)
        if (task["state"], task["attempt"]) != wanted:
            wrong.append(f"task {task['array_task']['index']}: {task['state']}, attempt {task['attempt']}")
    return wrong


def run(fleet, tasks, seconds):
    began = time.monotonic()
    submitted = fleet.hai("exec", "sleep", seconds, "--", "--gpus", 1, "--array", f"0-{tasks - 1}", "-o", "json")
    submit = time.monotonic() - began
    array = json.loads(submitted)["id"]
    fleet.hai("stop", f"{array}_[{tasks - STOPPED}-{tasks - 1}]")
    fleet.wait("half of them have ended", lambda: status(fleet, array)["array"]["succeeded"] > tasks / 2)
    fleet.hai("dev", "kill", "server")
    fleet.hai("dev", "start", "server")
    fleet.wait("the array has ended", lambda: status(fleet, array)["state"] in ("succeeded", "failed", "stopped"))
    whole = time.monotonic() - began
    wrong = judge(fleet, array, tasks)
    print(
        f"{tasks} tasks of {seconds} s on {fleet.nodes} nodes, {STOPPED} of them stopped by number, the server killed once: "
        f"submit {submit * 1000:.0f} ms, whole {whole:.1f} s, {(tasks - STOPPED) / whole:.0f} tasks/s, "
        f"server CPU {fleet.cpu().get('hai-server', 0):.1f} s since it was started again; {len(wrong)} not as they should be"
    )
    for line in wrong[:10]:
        print(line)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=1250)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--insecure", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="array") as home:
        fleet = Fleet(pathlib.Path(home), options.nodes, ["--insecure"] if options.insecure else [])
        try:
            fleet.wait("all nodes are up", fleet.all_nodes_are_up)
            raise SystemExit(run(fleet, options.tasks, options.seconds))
        finally:
            fleet.hai("dev", "down")


if __name__ == "__main__":
    main()
