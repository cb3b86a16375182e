"""The program of the world's jobs. It keeps a ledger that no server, agent or database touches: each
line is one atomic append to the job's own file, on the one clock that all nodes here share.

    start ATTEMPT RANK NODE TIME GPUS STEP   it runs, and goes on after STEP finished steps
    mark  ATTEMPT RANK NODE TIME             it still runs
    work  ATTEMPT RANK NODE TIME STEP        it has done this step
    save  ATTEMPT RANK NODE TIME STEP        a checkpoint after so many steps is durable
    end   ATTEMPT RANK NODE TIME LINES       all steps are done; it has written so many lines

usage: worker.py LEDGERS SECONDS MODE [EXIT_CODE]    MODE: sdk | signal | deaf
Started with -ISB, without the SDK: a hundred of them start on two cores at a time.
"""

import os
import signal
import socket
import sys
import time

TICK_SECONDS = 0.2
STEP_TICKS = 2  # a step takes so many ticks
SAVE_STEPS = 4  # a checkpoint after so many steps
SUSPENDED = 85


class Worker:
    def __init__(self, ledgers, seconds, mode):
        self.attempt, self.rank = os.environ["HAI_ATTEMPT"], os.environ["HAI_NODE_RANK"]
        self.node, self.job = os.environ["HAI_NODE_NAME"], os.environ["HAI_JOB_ID"]
        self.steps = max(1, round(seconds / TICK_SECONDS / STEP_TICKS))
        self.mode = mode
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self.ledger = os.open(f"{ledgers}/{self.job}", flags, 0o644)
        self.checkpoint = f"{ledgers}/{self.job}.rank{self.rank}"
        self.lines = 0
        self.leave = False
        self.channel = None

    def note(self, kind, *words):
        now = f"{time.clock_gettime(time.CLOCK_BOOTTIME):.3f}"
        line = " ".join([kind, self.attempt, self.rank, self.node, now, *map(str, words)])
        os.write(self.ledger, line.encode() + b"\n")

    def say(self, count, width):
        """Numbered lines, so that one lost or doubled is seen in the job's log."""
        numbers = range(self.lines + 1, self.lines + 1 + count)
        text = "".join(f"line {number} {'x' * width}\n" for number in numbers).encode()
        while text:
            text = text[os.write(1, text) :]
        self.lines += count

    def load(self):
        try:
            with open(self.checkpoint, encoding="ascii") as file:
                return int(file.read())
        except FileNotFoundError:
            return 0

    def save(self, step):
        """Whole or not at all; noted once it is there."""
        began = time.monotonic()
        draft = f"{self.checkpoint}.{self.attempt}"
        with open(draft, "w", encoding="ascii") as file:
            file.write(str(step))
        os.rename(draft, self.checkpoint)
        self.note("save", step)
        if self.mode == "sdk":
            seconds = time.monotonic() - began
            self.ask(
                f'"op":"report_checkpoint","step":{step},"path":"{self.checkpoint}",'
                f'"seconds":{seconds:.3f}'
            )

    def ask(self, request):
        """One request to the shim. What may fail here fails quietly, as in the SDK."""
        try:
            if self.channel is None:
                self.channel = socket.socket(socket.AF_UNIX)
                self.channel.settimeout(1)
                self.channel.connect(os.environ["HAI_SOCKET"])
            self.channel.sendall(b"{" + request.encode() + b"}\n")
            answer = b""
            while not answer.endswith(b"\n"):
                piece = self.channel.recv(4096)
                if not piece:
                    raise OSError("closed")
                answer += piece
            return answer
        except OSError:
            self.channel = None
            return b""

    def is_asked_to_leave(self):
        if self.mode != "sdk":
            return self.leave
        return b'"suspend":true' in self.ask('"op":"receive_suspend_command"').replace(b" ", b"")

    def asked_by_signal(self, *_):
        self.leave = True

    def run(self, exit_code):
        if self.mode == "signal":
            signal.signal(signal.SIGUSR1, self.asked_by_signal)
        step = self.load()
        self.note("start", os.environ.get("CUDA_VISIBLE_DEVICES", "") or "-", step)
        self.say(50, 100)
        while step < self.steps:
            for _ in range(STEP_TICKS):
                time.sleep(TICK_SECONDS)
                self.note("mark")
            if self.is_asked_to_leave():
                self.save(step)
                if self.mode == "sdk":
                    self.ask('"op":"go_suspend"')
                sys.exit(SUSPENDED)
            self.note("work", step)
            step += 1
            self.say(1 + step % 3, 40)
            if step % SAVE_STEPS == 0 or step == self.steps:
                self.save(step)
        self.note("end", self.lines)
        sys.exit(exit_code)


if __name__ == "__main__":
    Worker(sys.argv[1], float(sys.argv[2]), sys.argv[3]).run(
        int(sys.argv[4]) if len(sys.argv) > 4 else 0
    )
