"""A shell at a pseudo-terminal, typed at as a person would."""

import os
import pty
import re
import select
import subprocess
import time

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>()][0-9AB]?|\r|\x07")


class Shell:
    def __init__(self, command, environment, cwd):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env=environment,
            start_new_session=True,
            close_fds=True,
        )
        os.close(slave)
        self.seen = ""

    def type(self, text):
        self.seen = ""
        os.write(self.master, text.encode())

    def wait_for(self, text, seconds=30):
        """What it has shown since the last typing, once `text` is in it."""
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], 0.1)
            if ready:
                self.seen += ESCAPES.sub(
                    "", os.read(self.master, 65_536).decode(errors="replace")
                )
            elif time.monotonic() > deadline:
                raise AssertionError(f"not shown within {seconds} s: {text!r} in {self.seen!r}")
        return self.seen

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
