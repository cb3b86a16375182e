#!/usr/bin/env python3
"""How long it takes to hear why a job waits, with and without an estimate of its start, and to see the queue,
with --waiting jobs in it on a fleet of --nodes.

usage: questions.py [--waiting 2500] [--nodes 1250] [--tries 40]
"""

import argparse
import http.client
import json
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "side_by_side"))

from hai_cluster import HaiCluster, eventually  # noqa: E402
from servers import TOKEN  # noqa: E402

HEAD = {"Authorization": f"Bearer {TOKEN}"}


def ask(connection, path):
    """(answer, milliseconds)."""
    began = time.monotonic()
    connection.request("GET", f"/api/v1/{path}", headers=HEAD)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {text[:200]}")
    return json.loads(text), (time.monotonic() - began) * 1000


def fill(cluster, words):
    """Jobs that keep all nodes, and others that wait for them; the ids of these."""
    busy = [cluster.spec(f"busy-{n}", "/bin/sleep", "36000", nodes=1) for n in range(words.nodes)]
    chance = random.Random(1)
    waiting = [
        cluster.spec(f"waits-{n}", "/bin/sleep", "600", nodes=chance.choice((1, 1, 2, 4, 8, 16))) for n in range(words.waiting)
    ]
    connection = http.client.HTTPConnection("127.0.0.1", cluster.server.http, timeout=60)
    for spec in busy:
        connection.request("POST", "/api/v1/jobs", json.dumps(spec), HEAD)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 201:
            raise RuntimeError(text)
    eventually("all nodes work", lambda: ask(connection, "cluster")[0]["gpus"]["free"] == 0, 60)
    ids = []
    for spec in waiting:
        connection.request("POST", "/api/v1/jobs", json.dumps(spec), HEAD)
        ids.append(json.loads(connection.getresponse().read())["id"])
    return connection, ids


def measure(cluster, words):
    connection, ids = fill(cluster, words)
    chance = random.Random(2)
    print(f"{'':32} {'p50 ms':>8} {'p90 ms':>8} {'max ms':>8}")
    for what, path in (("why, without an estimate", "jobs/{}/why?estimate=false"), ("why", "jobs/{}/why"), ("the queue", "queue")):
        took = sorted(ask(connection, path.format(chance.choice(ids)))[1] for _ in range(words.tries))
        print(f"{what:32} {took[len(took) // 2]:8.1f} {took[len(took) * 9 // 10]:8.1f} {took[-1]:8.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=2_500)
    parser.add_argument("--nodes", type=int, default=1_250)
    parser.add_argument("--tries", type=int, default=40)
    words = parser.parse_args()
    cluster = HaiCluster(nodes=words.nodes)
    try:
        cluster.up()
        measure(cluster, words)
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
