"""A dev cluster of its own for a test: real processes, a private PostgreSQL, free ports, everything
below one temporary directory, and nothing left behind whatever the test did.

Nothing here sleeps to be in time: `eventually` asks until the answer is right or a deadline has
passed.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
EXAMPLES = REPOSITORY / "docs" / "examples"
SDK = REPOSITORY / "sdk" / "python"
POLL_SECONDS = 0.05
LOG_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ?")
TERMINAL = ("succeeded", "failed", "stopped")


def programs():
    """The folder with hai and the others: $HAI_BIN, as ctest sets it, or that of the newest build."""
    if os.environ.get("HAI_BIN"):
        return pathlib.Path(os.environ["HAI_BIN"]).resolve()
    found = [path.parent for path in REPOSITORY.glob("build/*/bin/hai-server")]
    if not found:
        raise unittest.SkipTest("no build found: set HAI_BIN to the folder of hai-server")
    return max(found, key=lambda folder: (folder / "hai-server").stat().st_mtime)


def eventually(what, probe, seconds=30):
    """The first answer of `probe` that is true. `what` is said when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}; the last answer was {answer!r}")
        time.sleep(POLL_SECONDS)


def said(log):
    """What a program wrote: its log without the time that stands before each line."""
    lines = log.splitlines(keepends=True)
    for line in lines:
        if not LOG_TIME.match(line):
            raise AssertionError(f"a log line without its time: {line!r}")
    return "".join(LOG_TIME.sub("", line, 1) for line in lines)


class Result:
    """What one run of `hai` said and how it ended."""

    def __init__(self, words, done):
        self.words, self.code, self.out, self.err = words, done.returncode, done.stdout, done.stderr

    def __repr__(self):
        return (
            f"hai {' '.join(map(str, self.words))}: exit code {self.code}\n{self.out}\n{self.err}"
        )

    def json(self):
        return json.loads(self.out)


class Cluster:
    def __init__(self, name="e2e", nodes=4, gpus=8, topology=None, root=None, fleet=None):
        self.name, self.nodes, self.gpus, self.topology = name, nodes, gpus, topology
        self.fleet = fleet
        self.owns_root = root is None
        self.root = pathlib.Path(root or tempfile.mkdtemp(prefix="hai-e2e-"))
        # PostgreSQL runs as another user when we are root: it must be able to pass.
        self.root.chmod(0o711)
        self.data = self.root / name
        self.work = self.root / "work"
        self.work.mkdir(exist_ok=True)
        self.work.chmod(0o755)
        (self.root / "home").mkdir(exist_ok=True)
        self.followers = []
        self.people = {}  # the environments of run_as(), by user

    # -- hai

    def environment(self, **more):
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("HAI_", "HFAI_", "MARSV2_", "XDG_", "PYTHON", "LC_"))
        }
        kept.update(
            HOME=str(self.root / "home"), HAI_CONFIG=str(self.root / "config.json"), LANG="C.UTF-8"
        )
        kept.update({key: str(value) for key, value in more.items()})
        return kept

    def hai(self, *words, stdin=None, seconds=90, cwd=None, env=None):
        """Runs `hai` to its end; any exit code will do."""
        command = [str(programs() / "hai"), *map(str, words)]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=seconds,
            cwd=cwd or self.work,
            env=self.environment(**(env or {})),
            stdin=None if stdin is not None else subprocess.DEVNULL,
            errors="replace",
            text=True,
        )
        return Result(words, done)

    def ok(self, *words, **options):
        """Runs `hai`, which must succeed; gives its standard output."""
        result = self.hai(*words, **options)
        if result.code != 0:
            raise AssertionError(repr(result))
        return result.out

    def json(self, *words, **options):
        return json.loads(self.ok(*words, "-o", "json", **options))

    def as_user(self, user):
        """The environment in which `hai` is another user, who is made here."""
        own = self.json("context")[0]["name"]
        self.ok("user", "set", user)
        token = self.ok("token", "create", "--user", user, "--label", "test").strip()
        url = "https://" + self.status()["grpc"]
        self.ok("init", token, "--url", url, "--ca", self.ca_file, "--name", user)
        self.ok("context", "use", own)
        return {"HAI_CONTEXT": user}

    def start_hai(self, *words, cwd=None, env=None):
        """Runs `hai` beside the test; ended with the cluster at the latest."""
        process = subprocess.Popen(
            [str(programs() / "hai"), *map(str, words)],
            cwd=cwd or self.work,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            errors="replace",
            env=self.environment(**(env or {})),
        )
        self.followers.append(process)
        return process

    # -- its life

    def up(self, *options):
        shape = (
            ["--topology", self.topology]
            if self.topology
            else ["--fleet" if self.fleet else "--nodes", self.fleet or self.nodes]
            + ["--gpus", self.gpus]
        )
        return self.ok(
            "dev", "up", "--name", self.name, "--data", self.data, *shape, *options, seconds=150
        )

    def down(self, *options):
        return self.ok("dev", "down", "--name", self.name, "--data", self.data, *options)

    def kill(self, *targets):
        self.ok("dev", "kill", "--name", self.name, "--data", self.data, *targets)

    def start(self, *targets):
        self.ok("dev", "start", "--name", self.name, "--data", self.data, *targets)

    def status(self):
        return self.json("dev", "status", "--name", self.name, "--data", self.data)

    @property
    def ca_file(self):
        return self.data / "ca" / "ca.crt"

    def browser(self):
        """Whom a program that speaks HTTPS by itself believes."""
        return ssl.create_default_context(cafile=self.ca_file)

    def processes(self):
        """Ground truth: {pid: command line} of all processes whose command line or environment
        names this cluster's directory."""
        mark = str(self.root).encode()
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                command = (entry / "cmdline").read_bytes()
                if mark in command or mark in (entry / "environ").read_bytes():
                    if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                        found[int(entry.name)] = (
                            command.replace(b"\0", b" ").decode(errors="replace").strip()
                        )
            except (OSError, IndexError):
                continue  # it has just ended, or is not ours to look at
        return found

    def close(self):
        for process in self.followers:
            if process.poll() is None:
                process.kill()
            process.communicate()
        if (self.data / "cluster.json").exists():
            self.hai("dev", "down", "--purge", "--name", self.name, "--data", self.data)
        left = self.processes()
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.owns_root:
            shutil.rmtree(self.root, ignore_errors=True)
        return left

    # -- jobs

    def spec(
        self,
        name,
        entrypoint,
        parameters="",
        nodes=1,
        gpus=None,
        priority=None,
        workspace=None,
        environments=None,
        options=None,
        group="training",
    ):
        """A job as the dictionary that its YAML file would be."""
        spec = {
            "version": 2,
            "name": name,
            "spec": {
                "workspace": str(workspace or self.work),
                "entrypoint": str(entrypoint),
                "parameters": parameters,
            },
            "resource": {"group": group, "node_count": nodes},
            "options": options or {},
        }
        if priority:
            spec["priority"] = priority
        if gpus:
            spec["resource"]["gpus_per_node"] = gpus
        if environments:
            spec["spec"]["environments"] = environments
        return spec

    def run(self, spec, *options):
        """Submits it; JSON is YAML. Gives the id."""
        return self.json("run", "-", *options, stdin=json.dumps(spec))["id"]

    def run_as(self, user, spec):
        """Submits it as somebody else, who becomes a user of the cluster if he is none; gives the id."""
        if user not in self.people:
            self.people[user] = self.as_user(user)
        return self.json("run", "-", stdin=json.dumps(spec), env=self.people[user])["id"]

    def exec(self, script, *options, **keywords):
        """Submits a line of shell; gives the id."""
        return self.json("exec", "/bin/sh", "-c", script, "--", *options, **keywords)["id"]

    def job(self, job):
        return self.json("status", job)

    def wait_job(self, job, what, test, seconds=30):
        return eventually(
            f"job {job} {what}",
            lambda: (lambda now: now if test(now) else None)(self.job(job)),
            seconds,
        )

    def wait_state(self, job, *states, seconds=30):
        return self.wait_job(
            job, f"is {' or '.join(states)}", lambda now: now["state"] in states, seconds
        )

    def wait_running(self, job, attempt=1, seconds=30):
        """Until all ranks of this attempt, or of a later one, run."""
        return self.wait_job(
            job,
            f"runs, attempt {attempt}",
            lambda now: now["attempt_state"] == "running" and now["attempt"] >= attempt,
            seconds,
        )

    def wait_end(self, job, state="succeeded", seconds=60):
        now = self.wait_state(job, *TERMINAL, seconds=seconds)
        if now["state"] != state:
            raise AssertionError(
                f"job {job} {now['state']} ({now['end_reason']}), not {state}; its log:\n"
                + self.hai("logs", job).out[-2000:]
            )
        return now

    def node(self, name):
        return self.json("nodes", name)

    def wait_node(self, name, liveness="up", seconds=30):
        def probe():  # It may not be known yet.
            return any(
                node["name"] == name and node["liveness"] == liveness for node in self.json("nodes")
            )

        return eventually(f"{name} is {liveness}", probe, seconds)

    def log(self, job, *options):
        """What a rank of it wrote."""
        return said(self.ok("logs", job, *options))

    def file(self, name, text, mode=0o755):
        path = self.work / name
        path.write_text(text)
        path.chmod(mode)
        return path

    # -- when something went wrong

    def diagnosis(self):
        parts = []
        for words in (
            ("list", "-a", "-o", "wide"),
            ("nodes",),
            ("events", "-n", "60"),
            ("dev", "status"),
        ):
            result = self.hai(*words, seconds=30)
            parts.append(f"--- hai {' '.join(words)}\n{result.out}{result.err}")
        for path in sorted(self.data.glob("log/*.log")):
            lines = path.read_text(errors="replace").splitlines()[-25:]
            parts.append(f"--- {path.name}\n" + "\n".join(lines))
        return "\n".join(parts)


class ClusterTest(unittest.TestCase):
    """Tests that share one cluster, `self.cluster`. A failure shows what the cluster looked like
    then; a process that outlives the cluster is a failure, too."""

    shape = {}
    up_options = ()

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(**cls.shape)
        cls.addClassCleanup(cls.close_cluster)
        cls.cluster.up(*cls.up_options)

    @classmethod
    def close_cluster(cls):
        left = cls.cluster.close()
        if left:
            raise AssertionError(f"processes outlived `hai dev down`: {left}")

    def run(self, result=None):
        def count():
            return len(result.failures) + len(result.errors) if result else 0

        before = count()
        super().run(result)
        if count() > before:
            self.report()

    def report(self):
        print(
            f"\n=== the cluster after {self.id()}\n{self.cluster.diagnosis()}",
            file=sys.stderr,
            flush=True,
        )
        # The next test begins with an empty cluster all the same.
        left = self.cluster.hai("list", "-a", "-s", "queued,running,suspended", "-o", "json")
        ids = [job["id"] for job in left.json()] if left.code == 0 else []
        if ids:
            self.cluster.hai("stop", *ids)
            self.cluster.hai("wait", *ids, "--timeout", "60s", seconds=90)
