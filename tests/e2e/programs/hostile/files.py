"""Files and sockets of the agent, of the shim and of others."""

import fcntl
import glob
import os
import socket

from attempts import Absent, Refused, attempt, open_and_read

HERE = os.path.dirname(os.environ["HAI_SOCKET"])  # the rank's folder, which its shim owns
LOGS = os.environ["HAI_LOG_DIR"]


def own_cgroups():
    found = []
    for line in open("/proc/self/cgroup", encoding="ascii"):
        _, controllers, path = line.strip().split(":", 2)
        for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", f"/sys/fs/cgroup/{controllers}"):
            if path != "/" and os.path.exists(f"{root}{path}/cgroup.procs"):
                found.append(root + path)
    if not found:
        raise Absent("no cgroups")
    return found


def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(path)
        return "connected"


def own_log():
    return sorted(glob.glob(LOGS + "/*.log"))[-1]


@attempt("the agent's token", needs="root")
def token(targets):
    return open_and_read(targets["token"])


@attempt("the agent's config", needs="root")
def config(targets):
    return open(targets["config"], "a").close() or "opened for writing"


@attempt("the agent's folder", needs="root")
def folder(targets):
    others = set(os.listdir(targets["data"] + "/ranks")) - {os.path.basename(HERE)}
    if not others:
        raise Refused("nothing but its own is to be seen")
    return others


@attempt("a file in the agent's folder", needs="root")
def plant(targets):
    return open(targets["data"] + "/ranks/99.1.0", "w").close() or "made"


@attempt("its own launch file", needs="root")
def launch(_):
    return open_and_read(HERE + "/launch.json")


@attempt("its own status", needs="root")
def status(_):
    return open(HERE + "/status.json", "a").close() or "opened for writing"


@attempt("the lock of its shim", needs="root")
def lock(_):
    with open(HERE + "/lock", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return "locked"


@attempt("the control socket of its shim", needs="root")
def control(_):
    return connect(HERE + "/control.sock")


@attempt("a link in place of its job socket", needs="root")
def replace_socket(_):
    os.unlink(os.environ["HAI_SOCKET"])
    os.symlink("/etc/passwd", os.environ["HAI_SOCKET"])
    return "replaced"


@attempt("a file beside its job socket", needs="root")
def beside_socket(_):
    return open(HERE + "/more", "w").close() or "made"


@attempt("a link in place of its log", needs="root")
def replace_log(_):
    log = own_log()
    os.rename(log, log + ".old")
    os.symlink("/etc/passwd", log)
    return "replaced"


@attempt("its log, written past the shim", needs="root")
def write_log(_):
    return open(own_log(), "a").close() or "opened for writing"


@attempt("a link in place of its temporary folder", needs="root")
def replace_temporary(_):
    os.rename(os.environ["TMPDIR"], os.environ["TMPDIR"] + ".old")
    return "renamed"


@attempt("the job socket of another", needs="root")
def others_socket(targets):
    return connect(targets["other_socket"])


@attempt("the control socket of another", needs="root")
def others_control(targets):
    return connect(os.path.dirname(targets["other_socket"]) + "/control.sock")


@attempt("the log of another", needs="root")
def others_log(targets):
    return os.listdir(targets["other_log"])


@attempt("the temporary files of another", needs="root")
def others_temporary(targets):
    return os.listdir(targets["other_temporary"])


def hidden(path):
    if not os.path.exists(path):
        raise Refused("not to be seen")
    return open_and_read(path)


def marker_in(targets, folder):
    if folder not in targets["markers"]:
        raise Absent("nobody could put a file there")
    return targets["markers"][folder]


@attempt("a file in the machine's /tmp", needs="mounts")
def machines_tmp(targets):
    return hidden(targets["markers"]["/tmp"])


@attempt("a file in the machine's /dev/shm", needs="mounts")
def machines_memory(targets):
    return hidden(targets["markers"]["/dev/shm"])


@attempt("the users' own services", needs="mounts")
def services_of_users(targets):
    return hidden(marker_in(targets, "/run/user"))


@attempt("the system's bus", needs="mounts")
def bus_of_system(targets):
    """Over it logind starts the user's own systemd, and with it what he likes, for as long as he likes."""
    return hidden(marker_in(targets, "/run/dbus"))


@attempt("the limits of its cgroup", needs="root")
def own_limits(_):
    limits = ("pids.max", "memory.max", "cpu.max", "devices.allow", "memory.limit_in_bytes")
    paths = [f"{group}/{name}" for group in own_cgroups() for name in limits]
    for path in filter(os.path.exists, paths):
        return open(path, "w").close() or "opened for writing"
    raise Absent("no limits")


@attempt("another cgroup", needs="root")
def leave_cgroup(_):
    with open(os.path.dirname(own_cgroups()[0]) + "/cgroup.procs", "w") as processes:
        processes.write("0")
    return "left"


@attempt("a cgroup of one's own", needs="root")
def make_cgroup(_):
    os.mkdir(own_cgroups()[0] + "/mine")
    return "made"


for _path in (
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper", "/sys/power/state", "/etc/passwd", "/etc/ld.so.preload",
):
    @attempt(f"{_path}, to write")
    def write(_, path=_path):
        descriptor = os.open(path, os.O_WRONLY | (os.O_CREAT if path.startswith("/etc") else 0))
        os.close(descriptor)
        return "opened"


@attempt("the passwords")
def passwords(_):
    return open_and_read("/etc/shadow")
