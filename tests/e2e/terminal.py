"""A program on a terminal of its own, and what a person would see there: a pseudo-terminal and a
small screen that knows the sequences hai uses. One that it does not know is an error, not noise."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

SEQUENCE = re.compile(r"\x1b(?:\[([?]?)([0-9;]*)([A-Za-z]))")


class Screen:
    def __init__(self, columns=80, rows=24):
        self.columns, self.rows = columns, rows
        self.is_other = False  # the alternate screen
        self.is_cursor_hidden = False
        self.main = None
        self.pending = ""
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()

    def lines(self):
        return ["".join(cells).rstrip() for cells in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def feed(self, text):
        text, self.pending = self.pending + text, ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    if len(text) - at < 16:
                        self.pending = text[at:]
                        return
                    raise AssertionError(f"unknown sequence {text[at:at + 16]!r}")
                self.sequence(*found.groups())
                at = found.end()
            else:
                self.letter(text[at])
                at += 1

    def letter(self, letter):
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.row += 1
            if self.row == self.rows:
                self.cells = self.cells[1:] + [[" "] * self.columns]
                self.row -= 1
        elif letter == "\b":
            self.column = max(0, self.column - 1)
        elif letter == "\a":
            pass
        else:
            if self.column == self.columns:
                self.column = 0
                self.letter("\n")
            self.cells[self.row][self.column] = letter
            self.column += 1

    def sequence(self, private, numbers, final):
        values = [int(number or 0) for number in numbers.split(";")]
        blank = [" "] * self.columns
        if private:
            for value in values:
                if value == 25:
                    self.is_cursor_hidden = final == "l"
                elif value == 1049:
                    self.alternate(final == "h")
                else:
                    raise AssertionError(f"unknown mode {value}")
        elif final == "H":
            self.row = min(max(values[0], 1), self.rows) - 1
            self.column = min(max((values + [1])[1], 1), self.columns) - 1
        elif final == "A":
            self.row = max(0, self.row - max(values[0], 1))
        elif final == "J" and values[0] == 2:
            self.cells = [list(blank) for _ in range(self.rows)]
        elif final == "J" and values[0] == 0:
            self.cells[self.row][self.column :] = blank[self.column :]
            for row in range(self.row + 1, self.rows):
                self.cells[row] = list(blank)
        elif final == "K" and values[0] == 2:
            self.cells[self.row] = list(blank)
        elif final == "K" and values[0] == 0:
            self.cells[self.row][self.column :] = blank[self.column :]
        elif final == "m":
            pass  # colours are for people
        else:
            raise AssertionError(f"unknown sequence ESC [ {private}{numbers}{final}")

    def alternate(self, on):
        if on and not self.is_other:
            self.main = (self.cells, self.row, self.column)
            self.cells = [[" "] * self.columns for _ in range(self.rows)]
        elif not on and self.is_other:
            self.cells, self.row, self.column = self.main
        self.is_other = on


class Terminal:
    """`command` on a terminal. Its output is read whenever somebody looks at the screen."""

    def __init__(self, command, environment, columns=80, rows=24, cwd=None):
        self.screen = Screen(columns, rows)
        self.master, slave = pty.openpty()
        self.set_size(columns, rows)
        self.settings = termios.tcgetattr(slave)
        self.slave = slave  # kept open: what the program did to it is looked at afterwards
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.output = ""
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**environment, "TERM": environment.get("TERM", "xterm-256color")},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def set_size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        """As a window does it: the kernel tells the program by SIGWINCH."""
        self.read(0.1)
        self.screen.resize(columns, rows)
        self.set_size(columns, rows)

    def type(self, text):
        os.write(self.master, text.encode())

    def read(self, seconds):
        """Takes what the program writes within this time; at once when it writes something."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        while ready:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            text = self.decoder.decode(data)
            self.output += text
            self.screen.feed(text)
            ready, _, _ = select.select([self.master], [], [], 0)

    def until(self, what, test, seconds=20):
        """Until `test(text of the screen)` is true; gives its answer."""
        deadline = time.monotonic() + seconds
        while True:
            answer = test(self.screen.text())
            if answer:
                return answer
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {what}; seen:\n{self.screen.text()}")
            self.read(0.05)

    def see(self, *texts, seconds=20):
        return self.until(
            f"{texts} on the screen", lambda seen: all(text in seen for text in texts), seconds
        )

    def see_no_more(self, text, seconds=20):
        return self.until(f"{text!r} gone", lambda seen: text not in seen, seconds)

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, seconds=20):
        """Until it has ended; gives its exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"it has not ended; seen:\n{self.screen.text()}")
            self.read(0.05)
        self.read(0.05)
        return self.process.returncode

    def is_as_before(self):
        """Whether the terminal is as the program found it."""
        return (
            termios.tcgetattr(self.slave) == self.settings
            and not self.screen.is_other
            and not self.screen.is_cursor_hidden
        )

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)
