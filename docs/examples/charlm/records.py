"""What a run leaves behind for people and tests: its loss curve, its ledger of starts and ends."""

import json
import os
import time

from .checkpoints import write_atomically


class LossCurve:
    """One line `step loss` per step, each step once, however often the run was interrupted: at a
    resume the lines of steps that will be done again are cut off."""

    def __init__(self, path, first_step, say):
        self.file = None
        if not path:
            return
        kept = _lines_by_step(path, first_step)
        if len(kept) < first_step:
            say(f"{path} has only {len(kept)} of the {first_step} steps done so far")
        write_atomically(path, b"".join(kept[step] + b"\n" for step in sorted(kept)))
        self.file = open(path, "ab")

    def append(self, step, loss):
        if self.file:
            self.file.write(f"{step} {loss!r}\n".encode())
            self.file.flush()

    def sync(self):
        """Before a checkpoint: the curve must never be behind it, or steps would be missing for
        good."""
        if self.file:
            os.fsync(self.file.fileno())


def _lines_by_step(path, end):
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")[:-1]  # A crash may have torn the last line.
    except FileNotFoundError:
        return {}
    steps = {int(line.split()[0]): line for line in lines if line[:1].isdigit()}
    return {step: line for step, line in steps.items() if step < end}


def note(ledger, event, rank, step):
    """Appends one line in one write, so that ranks sharing the file don't mix."""
    if not ledger:
        return
    line = {
        "event": event,
        "job": os.environ.get("HAI_JOB_ID", ""),
        "attempt": int(os.environ.get("HAI_ATTEMPT") or 0),
        "rank": rank,
        "step": step,
        "pid": os.getpid(),
        "node": os.environ.get("HAI_NODE_NAME", ""),
        "time": round(time.time(), 3),
    }
    handle = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, (json.dumps(line) + "\n").encode())
    finally:
        os.close(handle)
