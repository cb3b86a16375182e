"""The sample training job of docs/examples as tests use it: where it writes, and what that says."""

import json
import subprocess
import sys

from cluster import EXAMPLES, SDK, eventually


class Training:
    """One run of train.py, inside hai or alone. All its files are below `folder`."""

    def __init__(self, cluster, name, steps, step_seconds, checkpoint_every=10, seed=1):
        self.cluster, self.name, self.steps = cluster, name, steps
        self.folder = cluster.work / name
        self.folder.mkdir(exist_ok=True)
        self.result_file = self.folder / "result.json"
        self.curve_file = self.folder / "curve.txt"
        self.ledger_file = self.folder / "ledger.jsonl"
        self.shape = ["--steps", steps, "--checkpoint-every", checkpoint_every, "--seed", seed]
        self.files = [
            "--checkpoint-dir",
            self.folder / "checkpoints",
            "--result",
            self.result_file,
            "--loss-curve",
            self.curve_file,
            "--ledger",
            self.ledger_file,
        ]
        self.pace = ["--step-seconds", step_seconds]

    def spec(self, nodes, priority, grace="60s"):
        parameters = " ".join(map(str, [*self.shape, *self.pace, *self.files]))
        return self.cluster.spec(
            self.name,
            "train.py",
            parameters,
            nodes=nodes,
            priority=priority,
            workspace=EXAMPLES,
            options={"suspend": {"grace": grace}},
        )

    def run_alone(self):
        """The same training in one process, never interrupted, as fast as it can."""
        command = [
            sys.executable,
            str(EXAMPLES / "train.py"),
            *map(str, [*self.shape, *self.files]),
        ]
        environment = {
            **self.cluster.environment(),
            "PYTHONPATH": str(SDK),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        subprocess.run(command, check=True, capture_output=True, env=environment, timeout=120)

    def result(self):
        return json.loads(self.result_file.read_text())

    def curve(self):
        """[(step, loss as text)] of all whole lines so far."""
        if not self.curve_file.exists():
            return []
        lines = self.curve_file.read_text().split("\n")[:-1]
        return [(int(line.split()[0]), line.split()[1]) for line in lines]

    def ledger(self, event=None, attempt=None):
        if not self.ledger_file.exists():
            return []
        lines = [json.loads(line) for line in self.ledger_file.read_text().split("\n")[:-1]]
        return [
            line
            for line in lines
            if event in (None, line["event"]) and attempt in (None, line["attempt"])
        ]

    def pids(self, attempt):
        """{rank: pid} of those that have started."""
        return {line["rank"]: line["pid"] for line in self.ledger("start", attempt)}

    def wait_started(self, attempt, ranks, seconds=30):
        return eventually(
            f"{ranks} ranks of {self.name}, attempt {attempt}, have started",
            lambda: len(self.pids(attempt)) == ranks and self.pids(attempt),
            seconds,
        )

    def wait_steps(self, more, seconds=30):
        """Until it has trained so many more steps than now."""
        wanted = len(self.curve()) + more
        eventually(
            f"{self.name} trains {more} more steps", lambda: len(self.curve()) >= wanted, seconds
        )


def is_alive(pid):
    """A zombie is not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return False


def alive(pids):
    return {rank: pid for rank, pid in pids.items() if is_alive(pid)}
