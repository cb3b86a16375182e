"""Nodes whose hardware a test can break: a recorded tree of /sys and /proc for each, a stub of NVML
and a kernel's log, all of them plain files that the node's agent reads in place of the real ones.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import threading
import unittest
import uuid

from cluster import REPOSITORY, programs

RECORDED = REPOSITORY / "tests" / "data" / "health" / "node"
STUB = "libhai-stub-nvml.so"
GPUS = 2  # as the recorded node has
BUS_IDS = ("0000:3b:00", "0000:86:00")
PORT = "mlx5_0/ports/1"


class Hardware:
    """What one node's agent looks at. `settings`: more of its config, as YAML would have it."""

    def __init__(self, folder, node, settings):
        self.folder, self.node = pathlib.Path(folder) / node, node
        shutil.copytree(RECORDED, self.folder)
        (self.folder / "nvml").mkdir()
        self.nvml = self.folder / "nvml" / STUB
        self.nvml.symlink_to(programs() / STUB)
        self.kmsg = self.folder / "kmsg"
        self.hooks_run = self.folder / "hooks_run"
        self.hooks_run.touch()
        self.mounts = self.folder / "proc" / "mounts"
        self.gpu_state = self.nvml.with_name(STUB + ".state")
        self.healthy_gpus = self.nvml.with_name("healthy")
        self.healthy_gpus.write_text(f"count {GPUS}\n")
        self.boot()
        self.gpu()
        settings = dict(settings)
        health = dict(settings.get("health", {}))
        # It is asked for real, so it must be there.
        self.data = self.folder / "data"
        self.data.mkdir()
        self.mount(self.data)
        health["mounts"] = [str(self.data)]
        settings["health"] = health
        self.settings = self.folder / "agent.yaml"
        self.settings.write_text(
            "\n".join(f"{key}: {json.dumps(value)}" for key, value in settings.items())
        )

    def options(self):
        """Of `hai dev up`."""
        paths = {
            "sys-root": self.folder / "sys",
            "proc-root": self.folder / "proc",
            "nvml-library": self.nvml,
            "kmsg": self.kmsg,
            "agent-config": self.settings,
        }
        return [word for key, path in paths.items() for word in (f"--{key}", f"{self.node}={path}")]

    def boot(self):
        """As after a start of the machine: its kernel has said nothing yet."""
        self.kmsg.write_text("")
        boot_id = self.folder / "proc" / "sys" / "kernel" / "random" / "boot_id"
        boot_id.parent.mkdir(exist_ok=True)
        replace(boot_id, f"{uuid.uuid4()}\n")

    def says(self, line):
        """A line of the kernel's."""
        with self.kmsg.open("a") as log:
            log.write(line + "\n")

    def xid(self, code, text, gpu=0):
        self.says(f"NVRM: Xid (PCI:{BUS_IDS[gpu]}): {code}, {text}")

    def gpu(self, *lines):
        """Lines of tests/support/stub_nvml, until the next call."""
        replace(self.gpu_state, self.healthy_gpus.read_text() + "\n".join(lines) + "\n")

    def port(self, name, value):
        replace(self.folder / "sys" / "class" / "infiniband" / PORT / name, value + "\n")

    def port_down(self):
        self.port("state", "1: DOWN")
        self.port("phys_state", "3: Disabled")

    def port_up(self):
        self.port("phys_state", "5: LinkUp")
        self.port("state", "4: ACTIVE")

    def mount(self, path):
        replace(self.mounts, self.mounts.read_text() + f"server:/x {path} nfs4 rw,relatime 0 0\n")

    def unmount(self, path):
        lines = self.mounts.read_text().splitlines(keepends=True)
        replace(self.mounts, "".join(line for line in lines if line.split()[1] != str(path)))

    def hook(self, script):
        """What its site does when asked for a repair; nothing, and well, without one."""
        path = self.folder / "hook"
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def hooks(self):
        """Which repairs its site was asked for, in order."""
        return self.hooks_run.read_text().split()


def replace(path, text):
    """At once: a reader sees the old or the new."""
    fresh = path.with_name(f".{path.name}.{threading.get_ident()}")
    fresh.write_text(text)
    fresh.rename(path)


@contextlib.contextmanager
def hanging_mount(path):
    """A file system that answers nothing, as that of a file server that is gone: FUSE that nobody
    serves."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        raise unittest.SkipTest(f"no hanging mount without FUSE: {error}") from error
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    try:
        if libc.mount(b"none", os.fsencode(path), b"fuse", 0, options) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise unittest.SkipTest(f"no hanging mount without the right to mount: {reason}")
        try:
            yield
        finally:
            libc.umount2(os.fsencode(path), 2)  # MNT_DETACH: nobody is asked
    finally:
        os.close(device)  # whoever waits gets an error
