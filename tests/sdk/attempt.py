"""Runs ranks of the sample job the way hai does: a shim per rank, and the first go_suspend() of any
rank ends them all."""

import os
import socket
import subprocess
import sys
import time

import paths
from fake_shim import FakeShim


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def lines_of(path):
    try:
        with open(path) as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


class Attempt:
    """`number` is the attempt; `before` the one before it, whose checkpoint and state go on."""

    def __init__(self, world_size, folder, arguments, number=1, before=None):
        self.shims = [FakeShim(on_go_suspend=self.kill) for _ in range(world_size)]
        self.ranks, self.suspended = [], False
        self.reported_at_end = None
        checkpoint = before.reported_checkpoint() if before else ""
        self.checkpoint_before = checkpoint
        for shim in self.shims:
            shim.state = before.shims[0].state if before else ""
        port = free_port()
        for rank, shim in enumerate(self.shims):
            environment = {
                "RANK": str(rank), "WORLD_SIZE": str(world_size), "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port), "HAI_JOB_ID": "7", "HAI_JOB_NAME": "t",
                "HAI_ATTEMPT": str(number), "HAI_SOCKET": shim.path, "HAI_CHECKPOINT": checkpoint,
            }
            self.ranks.append(subprocess.Popen(
                [sys.executable, "-B", paths.TRAIN] + arguments.split(), cwd=folder,
                env={**os.environ, **environment}, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True))

    def kill(self):
        if not self.suspended:
            self.reported_at_end = self.shims[0].last("report_checkpoint")
        self.suspended = True
        for process in self.ranks:
            process.kill()

    def finish(self, seconds=60):
        """Waits for all ranks; (exit codes, outputs)."""
        outputs = [process.communicate(timeout=seconds)[0] for process in self.ranks]
        return [process.returncode for process in self.ranks], outputs

    def alive(self):
        return any(process.poll() is None for process in self.ranks)

    def reported_checkpoint(self):
        report = self.shims[0].last("report_checkpoint")
        return report["path"] if report else self.checkpoint_before

    def wait_for_lines(self, path, count, seconds=30):
        """False if the ranks ended before the file had `count` lines."""
        deadline = time.monotonic() + seconds
        while len(lines_of(path)) < count:
            if not self.alive():
                return False
            if time.monotonic() > deadline:
                raise AssertionError(f"{path}: {len(lines_of(path))} of {count} lines in time")
            time.sleep(0.005)
        return True

    def close(self):
        for process in self.ranks:
            process.kill()
            process.wait()
            process.stdout.close()
        for shim in self.shims:
            shim.close()
