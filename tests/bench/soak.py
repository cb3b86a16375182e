#!/usr/bin/env python3
"""A cluster of full size under steady load, with nodes that die and return, watchers and questions:
does memory stay flat, do answers stay quick, and has every job exactly one outcome in the end?

A fleet of --nodes; --rate submits a second over REST (sizes and lengths of side_by_side/workload.py);
every --churn seconds a node dies and the one before comes back; --watchers read the event stream (one
in ten all of it, the others the ends of jobs); --followers read logs of running jobs as they are
written; somebody asks for lists, jobs and nodes all the time.
Every question and submit is timed. At the end the queue drains, and the ledger is checked: what was
acknowledged is there once, has succeeded, and no attempt is open; `hai-server verify` agrees.

usage: soak.py [--minutes 30] [--nodes 1250] [--rate 100] [--watchers 200] [--followers 20] [--json FILE]
"""

import argparse
import http.client
import json
import pathlib
import selectors
import socket
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "side_by_side"))

import workload  # noqa: E402
from hai_cluster import HaiCluster, descendants_cpu, eventually, memory_of, programs  # noqa: E402
from servers import TOKEN  # noqa: E402

HEAD = {"Authorization": f"Bearer {TOKEN}"}
SAMPLE_SECONDS = 2
LOGS_UNREAD_SHARE = 0.2  # of those asked for: their node had died, or no processor for seconds
WARM_SHARE = 0.4  # of the time: what is kept of finished jobs has grown to its bound by then


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


class Caller:
    """One kept connection; every call is timed."""

    def __init__(self, cluster, times):
        self.port, self.times = cluster.server.http, times
        self.connection = None

    def call(self, name, path, method="GET", body=None, headers=None, or_status=()):
        began = time.monotonic()
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.connection.request(method, path, body, {**HEAD, **(headers or {})})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status in or_status:
            return None
        self.times.append((name, began, time.monotonic() - began))
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]}")
        is_json = "json" in answer.headers.get("Content-Type", "")
        return json.loads(text) if is_json else text


class Worker(threading.Thread):
    """Runs `step` until it is told to stop; an error ends the soak."""

    def __init__(self, soak, step):
        super().__init__(daemon=True)
        self.soak, self.step = soak, step

    def run(self):
        try:
            while not self.soak.over.is_set():
                self.step()
        except Exception as error:
            self.soak.errors.append(f"{self.step.__name__}: {type(error).__name__}: {error}")
            self.soak.over.set()


class Watchers:
    """Connections to the event stream, read as fast as they bring something."""

    def __init__(self, cluster, count):
        self.selector = selectors.DefaultSelector()
        self.bytes, self.cut = 0, 0
        for number in range(count):
            query = "" if number % 10 == 0 else "?kind=job_finished"
            link = socket.create_connection(("127.0.0.1", cluster.server.http))
            lines = f"GET /api/v1/events{query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
            link.sendall(f"{lines}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
            link.setblocking(False)
            self.selector.register(link, selectors.EVENT_READ)

    def read(self):
        for key, _ in self.selector.select(timeout=0.5):
            data = key.fileobj.recv(1 << 18)
            self.bytes += len(data)
            if not data:
                self.cut += 1
                self.selector.unregister(key.fileobj)


class Follower:
    """Reads the log of one running job after the other until it ends."""

    def __init__(self, soak, number):
        self.soak, self.number = soak, number
        self.caller = Caller(soak.cluster, [])
        self.logs, self.cut, self.bytes = 0, 0, 0

    def follow(self):
        running = self.caller.call("running", "/api/v1/jobs?state=running&limit=100")["jobs"]
        if len(running) <= self.number:
            self.soak.over.wait(0.5)
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.caller.port, timeout=60)
        path = f"/api/v1/jobs/{running[self.number]['id']}/logs?follow=true"
        connection.request("GET", path, headers=HEAD)
        answer = connection.getresponse()
        try:
            while answer.status == 200 and (data := answer.read1(65536)):
                self.bytes += len(data)
        except http.client.IncompleteRead:
            self.cut += 1  # its node died, and what cannot go on looks so
        self.logs += 1
        connection.close()


class Soak:
    def __init__(self, options):
        self.options = options
        self.over = threading.Event()
        self.errors, self.times, self.samples, self.accepted = [], [], [], []
        # What is kept of finished jobs reaches its bound before memory is judged.
        kept = int(min(2000, WARM_SHARE / 2 * options.rate * options.minutes * 60))
        knobs = f", agent_lease: 15s, down_after: 25s, finished_jobs_kept: {kept}, lemon_score: 0"
        self.cluster = HaiCluster(options.nodes, knobs=knobs, polite=True)
        self.rows = workload.mixed(100_000, 1)
        self.dead, self.deaths = None, 0
        self.logs_asked, self.logs_unread = 0, 0

    def submit(self):
        number = len(self.accepted)
        wait = self.began + number / self.options.rate - time.monotonic()
        if wait > 0 and self.over.wait(wait):
            return
        nodes, seconds = self.rows[number % len(self.rows)]
        nodes = min(nodes, self.options.nodes // 4)
        spec = self.cluster.spec(f"soak-{number}", "/bin/sleep", str(seconds), nodes=nodes)
        head = {"Idempotency-Key": f"soak-{number}"}
        job = self.submitter.call("submit", "/api/v1/jobs", "POST", json.dumps(spec), head)
        self.accepted.append(job["id"])

    def ask(self):
        self.asker.call("list", "/api/v1/jobs?limit=100")
        self.asker.call("nodes", "/api/v1/nodes?limit=100")
        self.asker.call("cluster", "/api/v1/cluster")
        if self.accepted:
            self.asker.call("job", f"/api/v1/jobs/{self.accepted[len(self.accepted) // 2]}")
            self.asker.call("events", f"/api/v1/jobs/{self.accepted[-1]}/events")
            self.read_log()
        self.over.wait(0.5)

    def read_log(self):
        """Of the newest job that runs, if any: by the server and its agent."""
        running = self.asker.call("running", "/api/v1/jobs?state=running&limit=1")["jobs"]
        if not running:
            return
        self.logs_asked += 1
        path = f"/api/v1/jobs/{running[0]['id']}/logs"
        # A node that has just died cannot answer, and the fleet, which has the lowest priority of
        # all, may be later on a busy machine than the server waits: judged in faults_of().
        try:
            is_read = self.asker.call("log", path, or_status=(404, 409, 503, 504)) is not None
        except http.client.IncompleteRead:  # it died while it answered
            self.asker.connection, is_read = None, False
        self.logs_unread += not is_read

    def churn(self):
        if self.over.wait(self.options.churn):
            return
        if self.dead:
            self.tell(f"restore {self.dead}")
        self.deaths += 1
        self.dead = f"node-1-{self.deaths % self.options.nodes + 1:04}"
        self.tell(f"kill {self.dead}")

    def tell(self, line):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(self.cluster.root / "nodes" / "node-1" / "fleet.sock"))
            link.sendall(line.encode() + b"\n")
            answer = link.recv(4096).decode()
        if not answer.startswith("ok "):
            raise RuntimeError(f"{line}: {answer}")

    def sample(self):
        memory = memory_of(self.cluster.server.process.pid)
        jobs = self.cluster.jobs()
        waiting = jobs.get("queued", 0) + jobs.get("suspended", 0)
        self.samples.append((time.monotonic() - self.began, memory["VmRSS"], waiting))
        self.over.wait(SAMPLE_SECONDS)

    def run(self):
        cluster = self.cluster
        cluster.up()
        self.submitter, self.asker = Caller(cluster, self.times), Caller(cluster, self.times)
        watchers = Watchers(cluster, self.options.watchers)
        self.began = time.monotonic()
        cpu = descendants_cpu([cluster.server.process.pid])
        followers = [Follower(self, number) for number in range(self.options.followers)]
        steps = [self.submit, self.ask, self.churn, self.sample, watchers.read]
        steps += [follower.follow for follower in followers]
        workers = [Worker(self, step) for step in steps]
        for worker in workers:
            worker.start()
        self.over.wait(self.options.minutes * 60)
        took = time.monotonic() - self.began
        cores = (descendants_cpu([cluster.server.process.pid]) - cpu) / took
        self.over.set()
        for worker in workers:
            worker.join(timeout=40)
        self.tell("restore all")
        if not self.errors:
            eventually("the queue drains", lambda: cluster.unfinished() == 0, 180)
        return {
            "minutes": round(took / 60, 1), "nodes": self.options.nodes,
            "submitted": len(self.accepted), "per_s": round(len(self.accepted) / took, 1),
            "deaths": self.deaths, "watchers": self.options.watchers, "watchers_cut": watchers.cut,
            "watched_mb_per_s": round(watchers.bytes / took / 1e6, 1),
            "logs_asked": self.logs_asked, "logs_unread": self.logs_unread,
            "logs_followed": sum(each.logs for each in followers),
            "follows_cut": sum(each.cut for each in followers),
            "log_bytes": sum(each.bytes for each in followers),
            "server_cores": round(cores, 2), **self.memory(), **self.answers(),
            **self.ledger(), "errors": self.errors,
        }

    def memory(self):
        warm = [row for row in self.samples if row[0] > WARM_SHARE * self.samples[-1][0]]
        half = len(warm) // 2
        before = statistics.median(row[1] for row in warm[:half])
        after = statistics.median(row[1] for row in warm[half:])
        return {
            "rss_mb_then": round(before), "rss_mb_now": round(after),
            "rss_mb_max": round(max(row[1] for row in warm)),
            "waiting_max": max(row[2] for row in warm), "waiting_at_end": self.samples[-1][2],
        }

    def answers(self):
        """Median and p99 in ms of each kind of call, in the first and the second half."""
        middle = self.began + self.samples[-1][0] / 2
        medians, rows = {}, {}
        for name in sorted({name for name, _, _ in self.times}):
            halves = [[], []]
            for call, began, took in self.times:
                if call == name:
                    halves[began > middle].append(took * 1e3)
            medians[name] = [round(quantile(half, 0.5), 1) for half in halves]
            rows[name] = [round(quantile(half, 0.99), 1) for half in halves]
        return {"p50_ms_halves": medians, "p99_ms_halves": rows}

    def ledger(self):
        sql = self.cluster.database.sql
        states = dict(line.split("|") for line in sql("SELECT id, state FROM job").splitlines())
        outcomes = {}
        for job in self.accepted:
            state = states.get(str(job), "lost")
            outcomes[state] = outcomes.get(state, 0) + 1
        ends = sql("SELECT count(*), count(DISTINCT subject) FROM event WHERE kind = 'job_finished'")
        total = int(sql("SELECT count(*) FROM job"))
        again = int(sql("SELECT count(*) FROM attempt WHERE number > 1"))
        words = [programs() / "hai-server", "--config", self.cluster.server.config, "verify"]
        verify = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        finished, distinct = map(int, ends.split("|"))
        return {
            "outcomes": outcomes, "jobs": total, "attempts_again": again,
            "ends": finished, "ends_of_different_jobs": distinct,
            "verify": "ok" if verify.returncode == 0 else (verify.stdout + verify.stderr)[-500:],
        }


def faults_of(result):
    """What is wrong with it, in words."""
    faults = list(result["errors"])
    count = result["submitted"]
    if result["outcomes"] != {"succeeded": count}:
        faults.append(f"outcomes of {count} jobs: {result['outcomes']}")
    if not result["jobs"] == result["ends"] == result["ends_of_different_jobs"] == count:
        faults.append("a job is lost, doubled or has ended twice")
    if result["verify"] != "ok":
        faults.append(f"verify: {result['verify']}")
    if result["rss_mb_now"] > 1.10 * result["rss_mb_then"] + 16:
        faults.append(f"memory grows: {result['rss_mb_then']} to {result['rss_mb_now']} MB")
    if result["log_bytes"] < result["logs_followed"]:
        faults.append(f"{result['logs_followed']} logs had {result['log_bytes']} bytes")
    if result["logs_unread"] > max(3, LOGS_UNREAD_SHARE * result["logs_asked"]):
        faults.append(f"{result['logs_unread']} of {result['logs_asked']} logs could not be read")
    if result["follows_cut"] > max(3, LOGS_UNREAD_SHARE * result["logs_followed"]):
        faults.append(f"{result['follows_cut']} of {result['logs_followed']} followed logs were cut off")
    if result["watchers_cut"]:
        faults.append(f"{result['watchers_cut']} watchers were cut off")
    # By the median: what wears out is slower each time, and the slowest answers are the machine's.
    for name, (before, after) in result["p50_ms_halves"].items():
        if after > 3 * before + 50:
            faults.append(f"{name} became slow: median {before} to {after} ms")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--nodes", type=int, default=1_250)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--churn", type=float, default=10)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--followers", type=int, default=20)
    parser.add_argument("--json")
    soak = Soak(parser.parse_args())
    try:
        result = soak.run()
    finally:
        soak.over.set()
        soak.cluster.close()
    text = json.dumps(result, indent=1)
    print(text)
    if soak.options.json:
        pathlib.Path(soak.options.json).write_text(text + "\n")
    faults = faults_of(result)
    if faults:
        sys.exit("\n".join(f"error: {fault}" for fault in faults))


if __name__ == "__main__":
    main()
