"""A private PostgreSQL on a file system of its own, whose blocks lie on disk: fsync is real, and the
file system can be filled without harm to anybody else.
"""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time

from processes import Daemon, kill_all_in, pids_in, send

USER = "postgres"
IMAGE_BYTES = 600 << 20
FILLER = "filler"


def find_programs():
    given = os.environ.get("HAI_POSTGRES_BIN")
    if given:
        return pathlib.Path(given)
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return found[-1].parent if found else pathlib.Path("/usr/bin")


class Postgres:
    def __init__(self, root, namespace, address):
        self.root, self.namespace, self.address = root, namespace, address
        self.bin = find_programs()
        self.disk = root / "postgres"
        self.data = self.disk / "data"
        self.daemon = Daemon(
            "postgres",
            namespace,
            [
                self.bin / "postgres",
                *("-D", self.data, "-c", f"listen_addresses={address}"),
                *("-c", "unix_socket_directories=", "-c", "max_connections=60"),
                *("-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "shared_buffers=64MB"),
                *("-c", "min_wal_size=2MB", "-c", "max_wal_size=32MB", "-c", "wal_recycle=off"),
                *("-c", "log_min_messages=warning", "-c", "restart_after_crash=on"),
            ],
            root / "log" / "postgres.log",
            user=USER,
        )

    @property
    def conninfo(self):
        return f"host={self.address} user=hai dbname=hai"

    def create(self):
        image = self.root / "postgres.image"
        with open(image, "wb") as file:
            file.truncate(IMAGE_BYTES)
        self.disk.mkdir()
        run("mkfs.ext4", "-q", "-F", image)
        run("mount", "-o", "loop", image, self.disk)
        entry = pwd.getpwnam(USER)
        self.disk.chmod(0o755)
        self.data.mkdir()
        os.chown(self.data, entry.pw_uid, entry.pw_gid)
        subprocess.run(
            [self.bin / "initdb", "-D", self.data, "-U", "hai", "--auth=trust", "--no-locale"]
            + ["-E", "UTF8", "--wal-segsize=1", "--no-sync"],
            check=True,
            user=USER,
            cwd="/",
            stdout=subprocess.DEVNULL,
        )
        with open(self.data / "pg_hba.conf", "a", encoding="utf-8") as file:
            file.write("host all all 0.0.0.0/0 trust\n")
        self.daemon.start()
        self.wait_ready(30)
        run(self.bin / "createdb", "-h", self.address, "-U", "hai", "hai")

    def wait_ready(self, seconds):
        deadline = time.monotonic() + seconds
        ask = [self.bin / "pg_isready", "-q", "-t", "1", "-h", self.address, "-U", "hai"]
        while subprocess.run(ask).returncode != 0:
            if time.monotonic() > deadline:
                raise AssertionError(f"PostgreSQL does not answer within {seconds} s")
            time.sleep(0.05)

    def start(self):
        """After a kill its lock file names a pid that may by now be anybody's."""
        if self.daemon.is_alive():
            return
        kill_all_in(self.namespace)
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.daemon.start()

    def kill(self, immediate_stop):
        """Either all of it at once, or PostgreSQL's own immediate stop: no checkpoint in both."""
        self.daemon.expected_end = True
        if immediate_stop:
            self.daemon.end(signal.SIGQUIT)
        kill_all_in(self.namespace)
        if self.daemon.process:
            self.daemon.process.wait()

    def stop(self):
        self.daemon.end(signal.SIGINT, seconds=20)

    def send(self, number):
        send(pids_in(self.namespace), number)

    def fill_disk(self):
        """To the last block, those that are kept for root as well."""
        with open(self.disk / FILLER, "ab") as file:
            fill(file.fileno())

    def free_disk(self):
        (self.disk / FILLER).unlink(missing_ok=True)

    def rows(self, query):
        """[[text of each column]]"""
        done = subprocess.run(
            ["psql", "-h", self.address, "-U", "hai", "-d", "hai", "-AtX", "-F", "\t", "-c", query],
            check=True,
            capture_output=True,
            text=True,
        )
        return [line.split("\t") for line in done.stdout.splitlines()]

    def size(self):
        return shutil.disk_usage(self.disk).used


def fill(descriptor):
    """Takes all blocks that are left, large pieces first."""
    size = os.fstat(descriptor).st_size
    for piece in (64 << 20, 1 << 20, 64 << 10, 4 << 10):
        while True:
            try:
                os.posix_fallocate(descriptor, size, piece)
            except OSError:
                break
            size = os.fstat(descriptor).st_size


def run(*words):
    subprocess.run(list(map(str, words)), check=True, stdout=subprocess.DEVNULL)
