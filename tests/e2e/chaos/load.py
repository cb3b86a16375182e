"""What people ask for while everything breaks: jobs of all kinds from several users, asked for again
under the same request id when nobody answered, stopped, held, moved about.
"""

import dataclasses
import json
import pathlib
import random
import threading
import time

from client import Refused, Unknown

USERS = ("ann", "bob", "cleo")
PRIORITIES = ("low", "below_normal", "normal", "normal", "high", "very_high")
WORKER = pathlib.Path(__file__).resolve().parent / "worker.py"
TERMINAL = ("succeeded", "failed", "stopped")
FAILS_WITH = 3
SHARE_REPEATED = 0.3  # of the submits: asked twice though the first was answered
THREADS = 4


@dataclasses.dataclass
class Request:
    """One job as somebody asked for it; `job` is its id once a server has said so."""

    name: str
    user: str
    spec: dict
    shape: str
    job: int = 0
    answers: list = dataclasses.field(default_factory=list)
    refused: str = ""
    stop_asked: bool = False
    follows: str = ""  # the name of the job it depends on
    exit_code: int = 0

    @property
    def expected(self):
        if self.exit_code:
            return {"failed", "stopped"} if self.stop_asked else {"failed"}
        return {"succeeded", "stopped"} if self.stop_asked else {"succeeded"}


class Load:
    """`rate` jobs a second, fewer when too much waits already."""

    def __init__(self, world, seed, seconds, rate, unfinished_max):
        self.world, self.seconds, self.rate = world, seconds, rate
        self.unfinished_max = unfinished_max
        self.rng = random.Random(f"load {seed}")
        self.longest = min(50.0, max(8.0, seconds / 6))
        self.clients = {}
        self.requests = []
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.threads = []
        self.later = []  # (when, what): deeds that wait for their time
        self.counts = {"unanswered": 0, "repeated": 0, "verbs": 0, "verbs_unanswered": 0}
        self.errors = []

    def start(self):
        for user in USERS:
            self.clients[user] = self.world.add_user(user)
        for number in range(THREADS):
            thread = threading.Thread(target=self.submit_jobs, args=(number,))
            self.threads.append(thread)
        self.threads.append(threading.Thread(target=self.bother))
        self.threads.append(threading.Thread(target=self.do_later))
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    # -- jobs

    def submit_jobs(self, number):
        rng = random.Random(f"{self.rng.random()} {number}")
        while not self.stopping.wait(rng.expovariate(self.rate / THREADS)):
            if self.count_unfinished() >= self.unfinished_max:
                continue
            try:
                self.submit(self.draw(rng), rng)
            except Exception as error:
                self.errors.append(f"submit: {error!r}")

    def count_unfinished(self):
        with self.lock:
            waiting = sum(1 for request in self.requests if not request.job)
        try:
            jobs = self.world.admin.call("GET", "/api/v1/jobs?limit=1000", seconds=1)["jobs"]
            return waiting + len(jobs)
        except (Refused, Unknown):
            return waiting

    def draw(self, rng):
        """A random request. What it expects is part of it."""
        with self.lock:
            name = f"c{len(self.requests):05d}"
            before = [one for one in self.requests[-20:] if one.job and not one.exit_code]
            request = Request(name, rng.choice(USERS), {}, "")
            self.requests.append(request)
        is_short = rng.random() < 0.5
        seconds = rng.uniform(1, 5) if is_short else rng.uniform(self.longest / 2.5, self.longest)
        mode = rng.choice(("sdk", "sdk", "signal", "deaf"))
        nodes, gpus = rng.choice(
            ((1, 1), (1, 1), (1, 2), (1, 4), (1, 4), (1, 0), (2, 0), (2, 4), (3, 0), (4, 0))
        )
        request.exit_code = FAILS_WITH if is_short and rng.random() < 0.06 else 0
        request.stop_asked = not request.exit_code and rng.random() < 0.08
        request.shape = f"{nodes}x{gpus or 8} {seconds:.0f}s {mode}"
        options = {"suspend": {"grace": "3s"}, "watchdog": "5m"}
        if mode == "signal":
            options["suspend"]["signal"] = "SIGUSR1"
        own = [one for one in before if one.user == request.user and not one.stop_asked]
        if own and rng.random() < 0.1:
            request.follows = rng.choice(own).name
            options["depends_on"] = [str(self.find(request.follows).job)]
        words = [WORKER, self.world.ledgers, f"{seconds:.1f}", mode, request.exit_code]
        request.spec = {
            "version": 2,
            "name": name,
            "priority": rng.choice(PRIORITIES),
            "spec": {
                "workspace": str(self.world.root),
                # Asked by a signal before it can hear one, a program would die of it, and its job fail.
                "entrypoint": "/usr/bin/env",
                "parameters": " ".join(["--ignore-signal=USR1", "/usr/bin/python3", "-ISB", *map(str, words)]),
            },
            "resource": {"group": "training", "node_count": nodes, "gpus_per_node": gpus or 8},
            "options": options,
        }
        if not gpus:
            del request.spec["resource"]["gpus_per_node"]
        return request

    def find(self, name):
        return next(one for one in self.requests if one.name == name)

    def submit(self, request, rng):
        """Until it is answered; then, sometimes, once more: it must be the same job, however much
        later, whoever leads by then."""
        self.ask(request, 20)
        if rng.random() < SHARE_REPEATED:
            self.put_off(rng.uniform(0, 20), lambda: self.ask_once_more(request))
        if request.stop_asked:
            self.put_off(rng.uniform(0, 8), lambda: self.control(request, "stop"))

    def ask_once_more(self, request):
        self.counts["repeated"] += 1
        self.ask(request, 5)

    def put_off(self, seconds, deed):
        with self.lock:
            self.later.append((time.monotonic() + seconds, deed))

    def do_later(self):
        while not self.stopping.wait(0.1):
            with self.lock:
                due = [one for one in self.later if one[0] <= time.monotonic()]
                self.later = [one for one in self.later if one not in due]
            for _, deed in due:
                try:
                    deed()
                except Exception as error:
                    self.errors.append(f"later: {error!r}")

    def ask(self, request, seconds):
        client = self.clients[request.user]
        try:
            answer = client.call(
                "POST", "/api/v1/jobs", request.spec, key=f"key-{request.name}", seconds=seconds
            )
        except Unknown:
            self.counts["unanswered"] += 1
        except Refused as error:
            # Whoever depends on a job may come too late for it.
            if not request.follows:
                request.refused = str(error)
        else:
            request.answers.append(answer["id"])
            request.job = request.job or answer["id"]

    def ask_again(self):
        """After the storm: each request that was never answered gets its answer, and some of the
        others get theirs once more."""
        for number, request in enumerate(self.requests):
            if not request.job or number % 7 == 0:
                self.ask(request, 30)

    # -- everything else

    def control(self, request, verb, seconds=5):
        if not request.job:
            return
        client = self.clients[request.user]
        self.counts["verbs"] += 1
        try:
            client.call("POST", f"/api/v1/jobs/{request.job}/{verb}", {}, seconds=seconds)
        except Unknown:
            self.counts["verbs_unanswered"] += 1
        except Refused:
            pass  # It has ended meanwhile, say.

    def bother(self):
        """People who can't leave their jobs alone, and an operator with a screwdriver."""
        rng = random.Random(self.rng.random())
        while not self.stopping.wait(rng.expovariate(0.7)):
            with self.lock:
                known = [one for one in self.requests[-40:] if one.job]
            try:
                self.bother_once(rng, known)
            except (Refused, Unknown):
                self.counts["verbs_unanswered"] += 1
            except Exception as error:
                self.errors.append(f"bother: {error!r}")

    def bother_once(self, rng, known):
        deed = rng.choice(("hold", "suspend", "priority", "drain", "list"))
        if deed in ("hold", "suspend") and known:
            request = rng.choice(known)
            self.control(request, deed)
            if not self.stopping.wait(rng.uniform(0, 3)):
                self.control(request, "release" if deed == "hold" else "resume")
        if deed == "priority" and known:
            request = rng.choice(known)
            body = {"priority": rng.choice(PRIORITIES)}
            path = f"/api/v1/jobs/{request.job}/priority"
            self.clients[request.user].call("POST", path, body, seconds=3)
        if deed == "drain" and rng.random() < 0.3:
            node = rng.choice(self.world.nodes)
            body = {"reason": "chaos"}
            self.world.admin.call("POST", f"/api/v1/nodes/{node}/drain", body, seconds=3)
            self.stopping.wait(rng.uniform(0, 6))
            self.world.admin.call("POST", f"/api/v1/nodes/{node}/undrain", {}, seconds=3)
        if deed == "list":
            listed = self.world.hai.run("list", "-o", "json", "-a", seconds=60)
            if listed.returncode == 0:
                json.loads(listed.stdout)

    def settle(self):
        """Lets go of all that people have held, so that every job can end."""
        for node in self.world.nodes:
            self.world.admin.call("POST", f"/api/v1/nodes/{node}/undrain", {}, seconds=30)
        for job in self.world.admin.jobs():
            if job["state"] in TERMINAL:
                continue
            request = self.find(job["name"])
            request.job = request.job or job["id"]
            if job["held"]:
                verb = "resume" if job["state"] == "suspended" else "release"
                self.control(request, verb, seconds=30)
            if request.stop_asked:
                self.control(request, "stop", seconds=30)
