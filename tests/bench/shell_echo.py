#!/usr/bin/env python3
"""How long a key takes from `hai shell` to a terminal in a rank and back, while jobs start at --rate a second
on a fleet beside it.

usage: shell_echo.py [--rate 200] [--nodes 400] [--keys 1000]
"""

import argparse
import http.client
import json
import os
import pathlib
import pty
import select
import statistics
import subprocess
import sys
import threading
import time
import tty

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "side_by_side"))

from hai_cluster import HaiCluster, eventually, programs  # noqa: E402
from servers import TOKEN  # noqa: E402

KEY_EVERY = 0.02


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Load(threading.Thread):
    """Jobs of one node and one second, at a steady rate."""

    def __init__(self, cluster, rate, number):
        super().__init__(daemon=True)
        self.cluster, self.rate, self.number = cluster, rate, number
        self.over, self.sent = threading.Event(), 0

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.cluster.server.http, timeout=60)
        head = {"Authorization": f"Bearer {TOKEN}"}
        began = time.monotonic()
        while not self.over.is_set():
            wait = began + self.sent / self.rate - time.monotonic()
            if wait > 0 and self.over.wait(wait):
                return
            spec = self.cluster.spec(f"load-{self.number}-{self.sent}", "/bin/sleep", "1", nodes=1)
            connection.request("POST", "/api/v1/jobs", json.dumps(spec), head)
            answer = connection.getresponse()
            answer.read()
            self.sent += answer.status == 201


def start_real_node(cluster):
    """One that launches for real, in a group of its own."""
    fleet, cluster.fleet = cluster.fleet, 0
    cluster.agent_options = "labels: [real]\n"
    cluster.start_agent("real-1")
    cluster.fleet = fleet
    eventually("the real node is up", lambda: cluster.nodes_up() == fleet + 1, 60)


def open_shell(cluster, job):
    master, slave = pty.openpty()
    tty.setraw(slave)
    process = subprocess.Popen(
        [str(programs() / "hai"), "shell", str(job), "-t", "--", "sh", "-c", "stty -icanon; echo ready; exec cat >/dev/null"],
        stdin=slave, stdout=slave, stderr=slave, env=cluster.environment(), start_new_session=True,
    )
    os.close(slave)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(master, 4096)
    return process, master


def echo_times(master, keys):
    times = []
    for number in range(keys):
        key = b"abcdefghij"[number % 10 : number % 10 + 1]
        began = time.monotonic()
        os.write(master, key)
        while True:
            if not select.select([master], [], [], 10)[0]:
                raise RuntimeError("a key was not echoed within 10 s")
            if key in os.read(master, 4096):
                break
        times.append((time.monotonic() - began) * 1e3)
        time.sleep(max(0, KEY_EVERY - times[-1] / 1e3))
    return times


def row(times):
    return {"p50_ms": round(statistics.median(times), 2), "p99_ms": round(quantile(times, 0.99), 2),
            "max_ms": round(max(times), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--keys", type=int, default=1_000)
    options = parser.parse_args()
    cluster = HaiCluster(options.nodes)
    try:
        cluster.up()
        start_real_node(cluster)
        spec = cluster.spec("held", "/bin/sleep", "3600", nodes=1)
        spec["resource"]["labels"] = ["real"]
        job = cluster.run(spec)
        eventually("it runs", lambda: cluster.json("status", job)["state"] == "running")
        process, master = open_shell(cluster, job)
        quiet = echo_times(master, options.keys)
        loads = [Load(cluster, options.rate / 2, number) for number in range(2)]
        began = time.monotonic()
        for load in loads:
            load.start()
        time.sleep(2)  # until jobs start at that rate
        busy = echo_times(master, options.keys)
        took = time.monotonic() - began
        for load in loads:
            load.over.set()
            load.join(timeout=30)
        process.kill()
        process.wait()
        print(json.dumps({"quiet": row(quiet), "starting_per_s": round(sum(load.sent for load in loads) / took, 1),
                          "busy": row(busy)}, indent=1))
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
