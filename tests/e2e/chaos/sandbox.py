"""The world's walls: own mount, network and pid namespaces, so that a chaos run changes nothing of
the machine and whatever it forgets dies with it. Needs root; says why where it cannot.
"""

import os
import shutil
import signal
import subprocess
import sys

UNSHARE = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
INSIDE = "HAI_CHAOS_INSIDE"


def why_not():
    """Why a world cannot be made here; "" if it can."""
    if os.geteuid() != 0:
        return "needs root: for namespaces, mounts and another user's PostgreSQL"
    for program in ("unshare", "nsenter", "ip", "bridge", "mount", "mkfs.ext4", "psql"):
        if shutil.which(program) is None:
            return f"needs the program {program}"
    probe = (
        "mount -t tmpfs tmpfs /mnt && mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns"
        " && ip netns add a && ip link add v type veth peer name w netns a"
        " && ip link add br9 netns a type bridge"
    )
    done = subprocess.run([*UNSHARE, "sh", "-c", probe], capture_output=True, text=True)
    return f"no namespaces or veth pairs here: {done.stderr.strip()}" if done.returncode else ""


def enter():
    """Runs this very command again inside; returns there only. The exit code is passed on."""
    if os.environ.get(INSIDE):
        become_init()
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        os.makedirs("/run/netns", exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/netns"], check=True)
        return
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    os.environ[INSIDE] = "1"
    os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, "-B", *sys.argv])


def become_init():
    """Process 1 must bury orphans; the work goes on in its child."""
    child = os.fork()
    if child == 0:
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _: os.kill(child, got))
    while True:
        pid, status = os.wait()
        if pid == child:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
