"""Devices that are not the rank's."""

import errno
import os
import stat

from attempts import Absent, attempt, open_and_read


def open_device(path, flags=os.O_RDONLY):
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENXIO, errno.ENODEV):
            raise Absent(error.strerror) from None
        raise
    os.close(descriptor)
    return "opened"


for _path in (
    "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/net/tun", "/dev/kvm", "/dev/vsock", "/dev/loop-control",
    "/dev/userfaultfd", "/dev/cpu_dma_latency", "/dev/hwrng", "/dev/tty1", "/dev/infiniband/umad0",
):
    attempt(_path, needs="device filter")(lambda _, path=_path: open_device(path))


@attempt("a device that anybody may open by its mode", needs="device filter")
def open_to_all(targets):
    return open_device(targets["open_device"])


@attempt("a disk")
def disk(_):
    for name in sorted(os.listdir("/sys/block")):
        path = f"/dev/{name}"
        if os.path.exists(path):
            return open_and_read(path)
    raise Absent("no disk")


@attempt("the memory of the machine by a node of one's own")
def make_memory(_):
    path = os.path.join(os.environ["TMPDIR"], "memory")
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 1))
    return open_device(path)


@attempt("a disk by a node of one's own")
def make_disk(_):
    os.mknod(os.path.join(os.environ["TMPDIR"], "disk"), 0o600 | stat.S_IFBLK, os.makedev(8, 0))
    return "made"
