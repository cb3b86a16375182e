#!/usr/bin/env python3
"""How long one job on all nodes takes from its submit until every rank runs, on fleets of several sizes:
a launch order names all places, so that the cost might grow with nodes². Prints a table of the medians of
three starts, with the CPU seconds that server and fleet have used. HAI_BIN says where the programs are.

usage: launch_curve.py [--insecure] [NODES...]    (500 1250 2500 5000)
"""

import json
import os
import pathlib
import select
import statistics
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")
STARTS = 3


class Fleet:
    def __init__(self, home, nodes, options):
        self.nodes = nodes
        self.home = home
        self.hai("dev", "up", "--data", home / "data", "--fleet", nodes, "--rank-seconds", 0, "--grpc-port", 0,
                 "--http-port", 0, *options)

    def call(self, *words):
        return {"args": [f"{os.environ['HAI_BIN']}/hai", *map(str, words)], "env": {**os.environ, "HOME": str(self.home)}}

    def hai(self, *words):
        done = subprocess.run(
            **self.call(*words),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"hai {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def wait(self, what, test):
        end = time.monotonic() + 120
        while not test():
            if time.monotonic() > end:
                raise SystemExit(f"not within 120 s: {what}")
            time.sleep(0.02)

    def wait_for_event(self, kind, job):
        """By the stream of events: to ask for the job again and again would cost what is measured, a row for
        each of its ranks."""
        watch = self.call("events", job, "-w", "--kind", kind, "-o", "jsonl")
        with subprocess.Popen(**watch, stdout=subprocess.PIPE, text=True) as process:
            ready, _, _ = select.select([process.stdout], [], [], 120)
            said = ready and process.stdout.readline()
            process.kill()
        if not said:
            raise SystemExit(f"not within 120 s: {kind} of job {job}")

    def state(self, job):
        return json.loads(self.hai("status", job, "-o", "json"))["state"]

    def all_nodes_are_up(self):
        nodes = json.loads(self.hai("nodes", "-o", "json"))
        return sum(node["liveness"] == "up" for node in nodes) == self.nodes

    def cpu(self):
        """{program: CPU seconds} of this cluster's."""
        seconds = {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_text()
                fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            for program in ("hai-server", "hai-agent"):
                if str(self.home) in command and program in command.split("\0")[0]:
                    seconds[program] = (int(fields[11]) + int(fields[12])) / TICKS
        return seconds

    def start(self):
        """Seconds until all ranks run, and CPU seconds by program."""
        before = self.cpu()
        began = time.monotonic()
        job = json.loads(self.hai("exec", "sleep", "1000", "--", "-n", self.nodes, "-o", "json"))["id"]
        self.wait_for_event("attempt_running", job)
        seconds = time.monotonic() - began
        used = {program: after - before[program] for program, after in self.cpu().items()}
        self.hai("stop", job)
        self.wait("the job has ended", lambda: self.state(job) == "stopped")
        return seconds, used


def main():
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__)
        return
    options = [word for word in sys.argv[1:] if word == "--insecure"]
    sizes = [int(word) for word in sys.argv[1:] if word not in options] or [500, 1250, 2500, 5000]
    print(f"{'nodes':>6} {'seconds':>8} {'least':>6} {'most':>6} {'server CPU':>11} {'fleet CPU':>10} {'load':>5}")
    for nodes in sizes:
        with tempfile.TemporaryDirectory(prefix="launch") as home:
            fleet = Fleet(pathlib.Path(home), nodes, options)
            try:
                fleet.wait("all nodes are up", fleet.all_nodes_are_up)
                starts = [fleet.start() for _ in range(STARTS)]
            finally:
                fleet.hai("dev", "down")
            walls = [seconds for seconds, _ in starts]
            cpu = {name: statistics.median(used[name] for _, used in starts) for name in starts[0][1]}
            print(
                f"{nodes:6} {statistics.median(walls):8.2f} {min(walls):6.2f} {max(walls):6.2f} "
                f"{cpu['hai-server']:11.2f} {cpu['hai-agent']:10.2f} {os.getloadavg()[0]:5.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
