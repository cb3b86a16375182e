#!/usr/bin/env python3
"""What TLS costs: submits per second over kept connections, with and without it, in turns.

  HAI_BIN=build/release/bin tests/bench/tls.py [--rounds 3] [--jobs 20000] [--apart]

With --apart the clients have the last core to themselves, as if they were other machines; servers and
database share the rest. Without it the clients' own share of TLS is taken from the server's cores.
Prints the rate and the server's CPU per job of each run, the medians, and what each pair differs by:
these machines are noisy, ask for 15 rounds.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from cluster import programs  # noqa: E402
from servers import Servers  # noqa: E402
from tls_test import TlsServers  # noqa: E402

MANY = ", max_unfinished_jobs_per_user: 1000000"


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(cluster, jobs, prefix, cores, *options):
    server = cluster.servers[0]
    before = cpu_seconds(server.process.pid)
    done = subprocess.run(
        [str(programs() / "hai_load"), "--server", f"127.0.0.1:{server.grpc}",
         "--token-file", str(cluster.root / "admin.token"), *map(str, options),
         "submit", "--clients", "16", "--jobs", str(jobs), "--prefix", prefix,
         "--begin-at", str(int(time.time()) + 10**6)],
        capture_output=True, text=True, check=True, preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )  # fmt: skip
    answer = json.loads(done.stdout)
    answer["server_cpu_ms_per_job"] = (cpu_seconds(server.process.pid) - before) * 1000 / jobs
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--apart", action="store_true", help="clients on a core of their own")
    given = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if given.apart and len(cores) < 2:
        parser.error("--apart needs two cores")
    if given.apart:
        os.sched_setaffinity(0, cores[:-1])  # inherited by all that is started from here
    of_clients = cores[-1:] if given.apart else cores
    plain, tls = Servers(count=1, nodes=1, knobs=MANY), TlsServers(nodes=1, knobs=MANY)
    runs = {"plain": [], "tls": []}
    try:
        plain.up()
        tls.up()
        for number in range(given.rounds + 1):  # the first warms up
            for name, cluster, options in (
                ("plain", plain, ()), ("tls", tls, ("--ca", tls.ca / "ca.crt"))
            ):  # fmt: skip
                run = measure(cluster, given.jobs, f"r{number}", of_clients, *options)
                if number:
                    runs[name].append(run)
                    print(name, json.dumps(run), flush=True)
    finally:
        plain.close()
        tls.close()
    for key in ("jobs_per_s", "server_cpu_ms_per_job"):
        median = {name: statistics.median(run[key] for run in runs[name]) for name in runs}
        print(f"{key}: plain {median['plain']:.3f}, TLS {median['tls']:.3f}, "
              f"{100 * (median['tls'] / median['plain'] - 1):+.1f} %")  # fmt: skip
    pairs = sorted(with_it["jobs_per_s"] / without["jobs_per_s"] - 1
                   for without, with_it in zip(runs["plain"], runs["tls"], strict=True))  # fmt: skip
    print("jobs_per_s by pairs: " + " ".join(f"{100 * pair:+.0f}" for pair in pairs)
          + f" %, median {100 * statistics.median(pairs):+.1f} %")  # fmt: skip


if __name__ == "__main__":
    main()
