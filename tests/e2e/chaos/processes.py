"""Processes of the world: started as daemons inside a host's network namespace, found there again
whoever started them, and killed or paused all together.
"""

import os
import pwd
import signal
import subprocess


class Daemon:
    """One program that we keep running: it is started again and again as faults ask."""

    def __init__(self, name, namespace, command, log, user=None):
        self.name, self.namespace, self.command, self.log = name, namespace, command, log
        self.user = user
        self.process = None
        self.expected_end = True  # nobody has reason to be surprised that it does not run
        self.starts = 0

    def start(self):
        if self.is_alive():
            return
        become = []
        if self.user:
            entry = pwd.getpwnam(self.user)
            become = [f"--setuid={entry.pw_uid}", f"--setgid={entry.pw_gid}"]
        enter = ["nsenter", f"--net=/run/netns/{self.namespace}", *become]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*enter, *map(str, self.command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )
        self.expected_end = False
        self.starts += 1

    @property
    def pid(self):
        return self.process.pid if self.process else 0

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def send(self, number):
        if self.is_alive():
            self.process.send_signal(number)

    def end(self, number=signal.SIGKILL, seconds=15):
        """Ends it, and returns once it is gone."""
        self.expected_end = True
        if not self.is_alive():
            return True
        self.process.send_signal(number)
        if number != signal.SIGKILL:
            self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        return True

    def surprise(self):
        """The exit code, if it ended though nobody asked it to."""
        if self.expected_end or self.process is None:
            return None
        code = self.process.poll()
        if code is not None:
            self.expected_end = True
        return code


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def stat_fields(pid):
    """(name, fields after it) of /proc/PID/stat; None if it is gone."""
    text = read(f"/proc/{pid}/stat").decode(errors="replace")
    if ")" not in text:
        return None
    return text[text.index("(") + 1 : text.rindex(")")], text.rsplit(")", 1)[1].split()


def all_pids():
    """Of all living processes; zombies are not."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = stat_fields(entry)
            if fields and fields[1][0] not in "ZX":
                found.append(int(entry))
    return found


def pids_in(namespace):
    """Of all processes that live in a network namespace: a node's, whoever started them."""
    inode = os.stat(f"/run/netns/{namespace}").st_ino
    found = []
    for pid in all_pids():
        try:
            if os.stat(f"/proc/{pid}/ns/net").st_ino == inode:
                found.append(pid)
        except OSError:
            continue
    return found


def name_of(pid):
    fields = stat_fields(pid)
    return fields[0] if fields else ""


def command_of(pid):
    return read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def kill_all_in(namespace, rounds=50):
    """Until none is left: one may be forked while we look. True if it worked."""
    send(pids_in(namespace), signal.SIGSTOP)
    for _ in range(rounds):
        left = pids_in(namespace)
        if not left:
            return True
        send(left, signal.SIGKILL)
    return not pids_in(namespace)
