#!/usr/bin/env python3
"""How long a server needs from the start of its process to its first durable decision.

Fills a cluster (a fleet of 1,250 nodes that all run a job, and a queue), kills the server and starts
it again, several times. "led": /readyz says so. "decided": a submit was acknowledged; it shares its
transaction with the first planning pass of the term.

usage: restart.py [--queued 100000] [--running 1250] [--restarts 5] [--json FILE]; HAI_BIN says where the
programs are.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from cluster import eventually, programs  # noqa: E402
from servers import Servers  # noqa: E402

RETRY_SECONDS = 0.005


def fill(cluster, count, prefix):
    server = cluster.leader()
    words = [programs() / "hai_load", "--server", f"127.0.0.1:{server.grpc}"]
    words += ["--token-file", cluster.root / "admin.token", "submit", "--prefix", prefix]
    words += ["--jobs", count, "--batch", min(count, 500), "--clients", 4]
    subprocess.run([str(word) for word in words], check=True)


def restart(cluster, number):
    server = cluster.servers[0]
    server.kill()
    spec = json.dumps(cluster.spec(f"restart-{number}", "/bin/true"))
    began = time.monotonic()
    server.start()
    led = None
    while True:
        if led is None and server.get("/readyz", seconds=60)[0] == 200:
            led = time.monotonic() - began
        headers = {"Idempotency-Key": f"restart-{number}"}
        if led and server.get("/api/v1/jobs", "POST", spec, headers, seconds=60)[0] == 201:
            return led, time.monotonic() - began
        if time.monotonic() > began + 120:
            raise SystemExit("no decision within 2 minutes")
        time.sleep(RETRY_SECONDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queued", type=int, default=100_000)
    parser.add_argument("--running", type=int, default=1_250)
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--keep", action="store_true", help="wait for ENTER before the end")
    options = parser.parse_args()
    knobs = ", max_unfinished_jobs_per_user: 2000000"
    cluster = Servers(count=1, fleet=options.running, knobs=knobs)
    try:
        cluster.up()
        if options.running:
            fill(cluster, options.running, "run")
            wanted = lambda: cluster.servers[0].metric('hai_jobs{state="running"}')  # noqa: E731
            eventually("all run", lambda: wanted() == options.running, 120)
        fill(cluster, options.queued, "wait")
        if options.keep:
            print(f"{cluster.root}: {cluster.servers[0].config}", file=sys.stderr)
            input()
        rounds = [restart(cluster, number) for number in range(options.restarts)]
    finally:
        cluster.close()
    result = {"queued": options.queued, "running": options.running, "restarts": options.restarts}
    for name, values in zip(("led_s", "decided_s"), zip(*rounds)):
        result[name] = {"median": round(statistics.median(values), 3), "max": round(max(values), 3)}
    print(json.dumps(result))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
