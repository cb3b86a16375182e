"""What goes on while the store moves: a steady stream of submits, whose longest gap is what people are
refused, and jobs that keep ledgers (chaos/worker.py), which must not notice.
"""

import http.client
import itertools
import json
import pathlib
import threading
import time

WORKER = pathlib.Path(__file__).resolve().parent.parent / "chaos" / "worker.py"
LATER = "2099-01-01T00:00:00Z"
PAUSE_SECONDS = 0.1
JOB_EVERY_SECONDS = 2.0
STEP_SECONDS = 0.4  # of the worker


class Submit:
    def __init__(self, name, body, seconds=0.0):
        self.name, self.body, self.seconds = name, body, seconds
        self.answers = []  # ids; more than one and they differ: it was done twice
        self.at = 0.0  # when it was acknowledged


class Stream(threading.Thread):
    """One submit after the other, each with its own key, asked of one server after the other until
    one acknowledges it; then sometimes once more, which must give the same job."""

    def __init__(self, client, bodies, pause):
        super().__init__(daemon=True)
        self.client, self.bodies, self.pause = client, bodies, pause
        self.stopping = threading.Event()
        self.acknowledged, self.tried = [], set()

    def run(self):
        for number, (name, body, seconds) in enumerate(self.bodies):
            submit = Submit(name, body, seconds)
            self.tried.add(name)
            while not self.ask(submit):
                if self.stopping.wait(0.02):
                    return
            submit.at = time.monotonic()
            self.acknowledged.append(submit)
            if number % 20 == 19:
                self.ask(self.acknowledged[-10])
            if self.stopping.wait(self.pause):
                return

    def ask(self, submit):

        for server in self.client.servers:
            try:
                status, text = self.client.ask(
                    server, "POST", "/api/v1/jobs", submit.body, f"key-{submit.name}"
                )
            except (OSError, http.client.HTTPException):
                continue
            if status == 201:
                submit.answers.append(json.loads(text)["id"])
                return True
        return False

    def stop(self):
        self.stopping.set()
        self.join(timeout=60)

    def forget_after(self, count):
        """What came later is no promise any more: the store was restored to a moment before it."""
        del self.acknowledged[count:]

    def longest_gap(self, begin, end):
        """(seconds, when it ended) between two acknowledgements, from `begin` to `end`."""
        times = [submit.at for submit in list(self.acknowledged) if submit.at >= begin]
        before = [submit.at for submit in list(self.acknowledged) if submit.at < begin]
        marks = [max(before, default=begin), *[at for at in times if at <= end], end]
        return max((b - a, b) for a, b in itertools.pairwise(marks))

    def count_since(self, begin):
        return sum(submit.at >= begin for submit in list(self.acknowledged))


def probes(world, prefix="probe"):
    """Jobs that are not to begin: only whether they were taken counts."""
    for number in itertools.count():
        name = f"{prefix}-{number:06d}"
        yield name, spec(world, name, "/bin/true", "", 1, 1, {"begin_at": LATER}), 0


def workers(world):
    """Jobs that run, on one node or two."""
    for number in itertools.count():
        name = f"worker-{number:04d}"
        seconds = (6.0, 14.0, 24.0)[number % 3]
        words = f"-ISB {WORKER} {world.ledgers} {seconds} sdk"
        nodes = 1 + number % 2
        yield name, spec(world, name, "/usr/bin/python3", words, nodes, 1, {}), seconds


def spec(world, name, entrypoint, parameters, nodes, gpus, options):
    return {
        "version": 2,
        "name": name,
        "spec": {
            "workspace": str(world.root),
            "entrypoint": entrypoint,
            "parameters": parameters,
        },
        "resource": {"group": "training", "node_count": nodes, "gpus_per_node": gpus},
        "options": options,
    }
