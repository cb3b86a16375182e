#!/usr/bin/env python3
"""How long it takes to hear why a job waits, with and without an estimate of its start, and to see the queue,
with --waiting jobs in it on a fleet of --nodes. The reasons also while --others people keep asking for estimates,
and the estimate also while the queue is on somebody's screen. With --events so many events a second: jobs come, run
and end all the time, and as many wait.

usage: questions.py [--waiting 2500] [--nodes 1250] [--tries 200] [--others 2] [--events 0]
"""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import sys
import threading
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


SHAPES = (1, 1, 2, 4, 8, 16)  # nodes of a job
EVENTS_PER_JOB = 5  # submitted, placed, running, its attempt's end, its own


def fill(cluster, words):
    """Jobs that keep all nodes, and others that wait for them; the ids of these."""
    busy = [cluster.spec(f"busy-{n}", "/bin/sleep", "36000", nodes=1) for n in range(words.nodes)]
    chance = random.Random(1)
    waiting = [
        cluster.spec(f"waits-{n}", "/bin/sleep", "600", nodes=chance.choice(SHAPES)) for n in range(words.waiting)
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


class Churn:
    """Jobs that come, run and end, so many that --waiting of them wait at any time."""

    def __init__(self, cluster, words):
        self.cluster, self.words = cluster, words
        # As many run at a time as fit, so the rate says for how long.
        at_a_time = words.nodes * len(SHAPES) / sum(SHAPES)
        self.seconds = max(1, round(at_a_time * EVENTS_PER_JOB / words.events))
        self.chance = random.Random(1)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def add(self, jobs):
        prefix = self.cluster.new_prefix()
        shapes = self.cluster.shapes([(self.chance.choice(SHAPES), self.seconds) for _ in range(jobs)])
        words = ["--prefix", prefix, "--shapes", shapes, "--batch", min(jobs, 500), "--entrypoint", "/bin/sleep"]
        self.cluster.load("submit", *words)

    def waiting(self):
        return self.cluster.jobs().get("queued", 0)

    def run(self):
        while not self.over.wait(0.5):
            missing = self.words.waiting - self.waiting()
            if missing > 0:
                self.add(missing)

    def __enter__(self):
        self.add(self.words.waiting + self.words.nodes // 4)
        self.thread.start()
        time.sleep(10)  # the first ones have ended
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Others:
    """People who each ask for one estimate after the other."""

    def __init__(self, cluster, paths, count):
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.ask_on, args=(cluster, path), daemon=True) for path in paths[:count]]

    def ask_on(self, cluster, path):
        connection = http.client.HTTPConnection("127.0.0.1", cluster.server.http, timeout=60)
        while not self.over.is_set():
            with contextlib.suppress(RuntimeError):  # it has ended
                ask(connection, path)

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


class Screen:
    """A page that shows the queue, and asks for it now and then."""

    def __init__(self, cluster):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, args=(cluster,), daemon=True)

    def look(self, cluster):
        connection = http.client.HTTPConnection("127.0.0.1", cluster.server.http, timeout=60)
        while not self.over.wait(2):
            ask(connection, "queue")

    def __enter__(self):
        self.thread.start()
        time.sleep(8)  # the first look ahead is there

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def newest_waiting(connection):
    """Jobs that will wait for a while yet."""
    return [job["id"] for job in ask(connection, "jobs?state=queued&limit=1000")[0]["jobs"]]


def tell(what, connection, path, words, ids):
    chance = random.Random(2)
    took = []
    for number in range(words.tries):
        if ids is None or (words.events and number % 20 == 0):
            ids = newest_waiting(connection)
        took.append(ask(connection, path.format(chance.choice(ids)))[1])
    took.sort()
    print(f"{what:58} {took[len(took) // 2]:8.1f} {took[len(took) * 9 // 10]:8.1f} {took[-1]:8.1f}", flush=True)


def measure(cluster, words):
    reasons, why = "jobs/{}/why?estimate=false", "jobs/{}/why"
    with contextlib.ExitStack() as stack:
        if words.events:
            connection, ids = http.client.HTTPConnection("127.0.0.1", cluster.server.http, timeout=60), None
            churn = stack.enter_context(Churn(cluster, words))
        else:
            connection, ids = fill(cluster, words)
        began, first = time.monotonic(), ask(connection, "cluster")[0]["last_seq"]
        print(f"{'':58} {'p50 ms':>8} {'p90 ms':>8} {'max ms':>8}")
        tell("the reasons", connection, reasons, words, ids)
        others = [why.format(each) for each in (ids or newest_waiting(connection))[: words.others]]
        with Others(cluster, others, words.others):
            tell(f"the reasons, while {words.others} others ask for estimates", connection, reasons, words, ids)
        tell("with an estimate", connection, why, words, ids)
        with Screen(cluster):
            tell("with an estimate, while the queue is on a screen", connection, why, words, ids)
        tell("the queue", connection, "queue", words, ids)
        rate = (ask(connection, "cluster")[0]["last_seq"] - first) / (time.monotonic() - began)
        waiting = f"{churn.waiting()} jobs waited in the end" if words.events else f"{len(ids)} jobs waited"
        print(f"{rate:.0f} events a second, {waiting}; load average {os.getloadavg()[0]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waiting", type=int, default=2_500)
    parser.add_argument("--nodes", type=int, default=1_250)
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--others", type=int, default=2, help="people who ask for estimates meanwhile")
    parser.add_argument("--events", type=int, default=0, help="a second")
    words = parser.parse_args()
    cluster = HaiCluster(nodes=words.nodes)
    try:
        cluster.up()
        measure(cluster, words)
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
