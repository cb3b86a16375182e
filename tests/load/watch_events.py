#!/usr/bin/env python3
"""Do ten thousand readers of /api/v1/events slow the planner down? Starts a dev cluster, lets jobs be held and
released all the time, and compares the planning passes without and with the readers, in turns, in one run.

usage: HAI_BIN=build/release/bin tests/load/watch_events.py [--watchers 10000] [--seconds 20] [--rounds 3]
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import resource
import select
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

BIN = pathlib.Path(os.environ.get("HAI_BIN", "build/release/bin")).resolve()


class Cluster:
    def __init__(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="hai-watch-"))
        self.env = {**os.environ, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config")}
        self.place = ["--name", f"watch-{os.getpid()}", "--data", str(self.home / "data")]
        # In plain text: streams are read by hand here, and what is measured is the server's part.
        self.dev("up", "--insecure", "--nodes", "4", "--knob", "min_quantum=1s")
        self.http = json.loads(self.dev("status", "-o", "json"))["http"]
        self.token = (self.home / "data/admin.token").read_text().strip()

    def dev(self, verb, *args):
        return subprocess.run(
            [BIN / "hai", "dev", verb, *self.place, *args], env=self.env, check=True, capture_output=True, text=True
        ).stdout

    def close(self):
        self.dev("down", "--purge")
        shutil.rmtree(self.home, ignore_errors=True)

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.http + path, method=method, data=body and json.dumps(body).encode())
        request.add_header("Authorization", f"Bearer {self.token}")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def passes(self):
        """Bucket → count, of all planning passes so far."""
        found = re.findall(r'hai_sched_cycle_seconds_bucket\{le="([^"]+)"\} (\d+)', self.ask("GET", "/metrics"))
        return {float(le): int(count) for le, count in found}

    def metric(self, name):
        return float(re.search(rf"^{name} (\S+)", self.ask("GET", "/metrics"), re.M).group(1))


def watch(address, token, count, taken):
    """Reads `count` streams until it is ended; `taken` counts bytes and those that ended."""
    host, port = address.removeprefix("http://").split(":")
    request = f"GET /api/v1/events HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    poll = select.epoll()
    streams = {}
    for i in range(count):
        stream = socket.create_connection((host, int(port)))
        stream.sendall(request)
        stream.setblocking(False)
        streams[stream.fileno()] = stream
        poll.register(stream.fileno(), select.EPOLLIN)
    buffer = bytearray(1 << 18)
    while True:
        for number, _ in poll.poll():
            try:
                size = streams[number].recv_into(buffer)
            except OSError:
                size = 0
            if size == 0:
                poll.unregister(number)
                streams.pop(number).close()
                taken[1] += 1
            taken[0] += size


def quantile(before, after, part):
    """The upper bound of the bucket that the quantile falls into, in milliseconds."""
    counts = {le: after[le] - before[le] for le in after}
    total = counts[float("inf")]
    bound = min(le for le, count in counts.items() if count >= part * total)
    return bound * 1000, total


def measure(cluster, jobs, seconds):
    """Holds and releases all jobs again and again; the passes of that time."""
    before, events = cluster.passes(), cluster.metric("hai_controller_events_total")
    end = time.monotonic() + seconds
    slowest = 0.0
    while time.monotonic() < end:
        for verb in ("hold", "release"):
            began = time.monotonic()
            cluster.ask("POST", "/api/v1/jobs/actions", {"verb": verb, "jobs": jobs})
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(0.1)
    after = cluster.passes()
    p50, total = quantile(before, after, 0.5)
    p99, _ = quantile(before, after, 0.99)
    made = cluster.metric("hai_controller_events_total") - events
    return {"p50_ms": p50, "p99_ms": p99, "passes": total, "events": int(made), "slowest_answer_ms": round(slowest * 1000)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watchers", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    cluster = Cluster()
    try:
        spec = "version: 2\nname: {}\nspec: {{workspace: /tmp, entrypoint: /bin/sleep, parameters: '100000'}}\nresource: {{node_count: 4}}\n"
        jobs = []
        for i in range(101):
            request = urllib.request.Request(cluster.http + "/api/v1/jobs", method="POST", data=spec.format(f"j{i}").encode())
            request.add_header("Authorization", f"Bearer {cluster.token}")
            with urllib.request.urlopen(request) as answer:
                jobs.append(json.load(answer)["id"])
        jobs = jobs[1:]  # the first runs
        for _ in range(options.rounds):
            print(f"{0:6} watchers", json.dumps(measure(cluster, jobs, options.seconds)), flush=True)
            taken = multiprocessing.Array("q", 2)
            watcher = multiprocessing.Process(
                target=watch, args=(cluster.http, cluster.token, options.watchers, taken), daemon=True
            )
            watcher.start()
            while cluster.metric("hai_event_streams") < options.watchers:
                time.sleep(0.2)
            result = measure(cluster, jobs, options.seconds)
            result |= {"megabytes_read": taken[0] // 1_000_000, "ended": taken[1]}
            print(f"{options.watchers:6} watchers", json.dumps(result), flush=True)
            watcher.terminate()
            watcher.join()
            while cluster.metric("hai_event_streams") > 0:
                time.sleep(0.2)
                cluster.ask("POST", "/api/v1/jobs/actions", {"verb": "hold", "jobs": jobs[:1]})
                cluster.ask("POST", "/api/v1/jobs/actions", {"verb": "release", "jobs": jobs[:1]})
        print("cut off:", int(cluster.metric("hai_event_streams_cut_total")))
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
