#!/usr/bin/env python3
"""How long one person's calls take while another one floods the server with submits, and how long the
flood's own take: the state of a job asked for again and again, on a fleet.

usage: fairness.py [--seconds 20] [--outstanding 20000] [--jobs 1000]
"""

import argparse
import http.client
import json
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "side_by_side"))

from hai_cluster import HaiCluster  # noqa: E402


def token_of(cluster, user):
    """The file of a token of somebody else."""
    cluster.ok("user", "add", user)
    file = cluster.root / f"{user}.token"
    file.touch(0o600)
    file.write_text(cluster.ok("token", "create", "--user", user))
    return file


def asks(cluster, jobs, token, over):
    """All answers to one who asks until `over`: (median of medians of ten, the slowest, calls)."""
    rounds = []
    while not over.is_set():
        rounds.append(cluster.load("get", "--tries", 10, "--first", 1, "--last", jobs, token_file=token))
    middle = sorted(one["p50_ms"] for one in rounds)[len(rounds) // 2]
    return middle, max(one["p99_ms"] for one in rounds), 10 * len(rounds)


def asks_http(cluster, token, over):
    """The same over HTTP, a job each time: (median, the slowest, calls)."""
    head = {"Authorization": f"Bearer {token.read_text().strip()}"}
    connection = http.client.HTTPConnection("127.0.0.1", cluster.server.http, timeout=60)
    took = []
    while not over.is_set():
        began = time.monotonic()
        connection.request("GET", "/api/v1/jobs/1", headers=head)
        connection.getresponse().read()
        took.append((time.monotonic() - began) * 1000)
    took.sort()
    return took[len(took) // 2], took[-1], len(took)


def row(what, figures):
    print(f"{what:44} {figures[0]:9.1f} {figures[1]:9.1f} {figures[2]:8}")


def measure(cluster, words):
    cluster.load("submit", "--clients", 4, "--jobs", words.jobs, "--batch", 100, "--prefix", "early")
    bob = token_of(cluster, "bob")
    print(f"{'':44} {'p50 ms':>9} {'slowest':>9} {'calls':>8}")
    quiet = threading.Event()
    threading.Timer(words.seconds / 4, quiet.set).start()
    row("bob asks, and nobody else", asks(cluster, words.jobs, bob, quiet))
    over = threading.Event()
    flood = cluster.load("storm", "--seconds", words.seconds, "--outstanding", words.outstanding, wait=False)
    threading.Timer(words.seconds, over.set).start()
    http_figures = []
    browser = threading.Thread(target=lambda: http_figures.extend(asks_http(cluster, bob, over)))
    browser.start()
    row("bob asks while root floods", asks(cluster, words.jobs, bob, over))
    browser.join()
    row("bob asks over HTTP meanwhile", http_figures)
    told = json.loads(flood.stdout.read())
    row("root's submits that were taken (p99)", (told["accepted_p50_ms"], told["accepted_p99_ms"], told["accepted"]))
    print(f"refused: {told['calls'] - told['accepted']}, by code {told['codes']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--outstanding", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=1_000)
    words = parser.parse_args()
    cluster = HaiCluster(nodes=10)
    try:
        cluster.up()
        measure(cluster, words)
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
