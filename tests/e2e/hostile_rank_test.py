"""Ranks that try to break out of a node (programs/hostile), with `isolation: strict`; and, so that
it is known that they would, with `isolation: none`."""

import json
import os
import pathlib
import pwd
import shutil
import stat
import subprocess
import tempfile
import unittest

from cluster import Cluster, eventually, programs

HOSTILE = pathlib.Path(__file__).resolve().parent / "programs" / "hostile"
IS_ROOT = os.geteuid() == 0
# Whoever runs the tests, if that is not root: then there is nobody else.
HOSTILE_USER = "nobody" if IS_ROOT else pwd.getpwuid(os.geteuid()).pw_name
OTHER_USER = "daemon" if IS_ROOT else HOSTILE_USER
PROCESSES_MAX = 256
# Of what an agent says that it lacks (agent/os/rank_confinement.cpp), a word for each attempt.
LACKS = {
    "not root": ("root", "mounts", "device filter", "process limit"),
    "no mounts": ("mounts",),
    "no filter of devices": ("device filter",),
    "no controller pids": ("process limit",),
}
# Devices that programs of anybody may use, and that hardly any rank needs.
DEVICES = ("/dev/fuse", "/dev/net/tun", "/dev/vsock", "/dev/userfaultfd", "/dev/hwrng")
ATTEMPTS_LEAST = 82 if IS_ROOT else 45
# Through the last two of them services start programs for users, outside their ranks.
MARKED = ("/tmp", "/dev/shm", "/run/user", "/run/dbus") if IS_ROOT else ("/tmp", "/dev/shm")
# What not every machine and kernel has. Everything else is there, and must have been refused.
MAY_BE_ABSENT = {
    "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/net/tun", "/dev/kvm", "/dev/vsock", "/dev/loop-control",
    "/dev/userfaultfd", "/dev/cpu_dma_latency", "/dev/hwrng", "/dev/tty1", "/dev/infiniband/umad0",
    "a device that anybody may open by its mode",
    "a disk",
    "/proc/sys/kernel/modprobe, to write",  # a kernel without modules
    "/proc/sysrq-trigger, to write",
    "/sys/kernel/uevent_helper, to write",
    "/sys/power/state, to write",
    # Without cgroups.
    "the limits of its cgroup",
    "another cgroup",
    "a cgroup of one's own",
    # Not on ARM.
    "the ports of the machine",
}


def usable_device():
    for path in DEVICES:
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            return os.stat(path).st_rdev
        except OSError:
            continue
    return None


class Prison(Cluster):
    """A cluster whose one node confines its ranks so."""

    def __init__(self, isolation):
        # Not in /tmp, which ranks have for their own: modes alone keep them from the agent's files.
        root = tempfile.mkdtemp(prefix="hai-e2e-", dir="/var/tmp")
        super().__init__(name=f"cell-{isolation}", nodes=1, gpus=8, root=root)
        self.owns_root = True
        self.settings = self.root / "settings.yaml"
        self.settings.write_text(
            f"isolation: {isolation}\n"
            f"confinement: {{system_users: [{OTHER_USER}], processes_max: {PROCESSES_MAX}}}\n"
        )
        self.made = []
        self.markers = [pathlib.Path(folder) / f"hai-marker-{os.getpid()}" for folder in MARKED]
        for marker in self.markers:
            if not marker.parent.exists():
                marker.parent.mkdir()
                self.made.append(marker.parent)
            marker.write_text("of the machine\n")
            marker.chmod(0o644)

    def close(self):
        for marker in self.markers:
            marker.unlink()
        for folder in self.made:
            folder.rmdir()
        return super().close()

    def run_as(self, user, spec):
        """Submits a job as a user of the node; gives its id."""
        return super().run_as(user, spec) if IS_ROOT else self.run(spec)

    def start_other(self):
        """A job of another user: its pid and folders."""
        self.file("other.sh", "echo $$ $HAI_SOCKET $HAI_LOG_DIR $TMPDIR; exec sleep 600")
        job = self.run_as(OTHER_USER, self.spec("other", "other.sh", gpus=4))
        self.wait_running(job)
        said = eventually("the other job has said where it is", lambda: self.log(job).split())
        return job, {
            "other": int(said[0]),
            "other_socket": said[1],
            "other_log": said[2],
            "other_temporary": said[3],
        }

    def make_targets(self):
        shutil.copytree(HOSTILE, self.work, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        for file in self.work.iterdir():
            file.chmod(0o755)
        secret = self.file("secret", "the secret\n", 0o600)
        cat = self.work / "cat"
        shutil.copy("/bin/cat", cat)
        cat.chmod(0o4755)
        precious = self.work / "precious"
        precious.mkdir()
        precious.chmod(0o777)
        (precious / "file").write_text("kept\n")
        device = self.work / "device"
        if IS_ROOT and (found := usable_device()):
            os.mknod(device, stat.S_IFCHR | 0o666, found)
            device.chmod(0o666)
        data = self.data / "nodes" / "node-1"
        return {
            "lacks": self.lacks(data / "agent.yaml"),
            "agent": self.status()["nodes"][0]["agent_pid"],
            "data": str(data),
            "config": str(data / "agent.yaml"),
            "token": str(self.data / "agent.token"),
            "secret": str(secret),
            "setuid_cat": str(cat),
            "precious": str(precious),
            "open_device": str(device),
            "markers": {str(marker.parent): str(marker) for marker in self.markers},
            "processes_max": PROCESSES_MAX,
        }

    def lacks(self, config):
        """What the agent cannot do on this machine, in the words of the attempts."""
        done = subprocess.run(
            [str(programs() / "hai-agent"), "--check-config", "--config", str(config)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return [word for said, words in LACKS.items() if said in done.stdout for word in words]

    def run_hostile(self):
        """{name of an attempt: (what became of it, why)}"""
        targets = self.make_targets()
        other, where = self.start_other()
        path = self.file("targets.json", json.dumps(targets | where), 0o644)
        job = self.run_as(HOSTILE_USER, self.spec("hostile", "rank.py", str(path), gpus=4))
        self.wait_end(job)
        lines = self.log(job).splitlines()
        if lines[-1] != "done":
            raise AssertionError(f"it did not come to its end: {lines[-5:]}")
        outcomes = {}
        for line in lines[:-1]:
            outcome, rest = line.split(" ", 1)
            name, why = rest.split(": ", 1)
            outcomes[name] = (outcome, why)
        return other, outcomes


class HostileRankTest(unittest.TestCase):
    def prison(self, isolation):
        prison = Prison(isolation)

        def close():
            self.assertEqual(prison.close(), {}, "processes outlived the cluster")

        self.addCleanup(close)
        prison.up("--agent-config", f"node-1={prison.settings}")
        return prison

    def test_it_cannot_break_out(self):
        prison = self.prison("strict")
        before = pathlib.Path("/etc/passwd").read_bytes()
        other, outcomes = prison.run_hostile()
        for name, (outcome, why) in outcomes.items():
            if outcome in ("absent", "lacking"):
                print(f"not tried: {name}: {outcome}: {why}")
        absent = {name for name, (outcome, _) in outcomes.items() if outcome == "absent"}
        self.assertLessEqual(absent, MAY_BE_ABSENT)
        escaped = {name: why for name, (outcome, why) in outcomes.items() if outcome == "ESCAPED"}
        self.assertEqual(escaped, {})
        refused = [name for name, (outcome, _) in outcomes.items() if outcome == "refused"]
        print(f"refused: {len(refused)} of {len(outcomes)} attempts")
        self.assertGreaterEqual(len(refused), ATTEMPTS_LEAST)
        # And nothing was harmed.
        self.assertEqual(prison.job(other)["state"], "running")
        self.assertEqual((prison.work / "precious" / "file").read_text(), "kept\n")
        self.assertEqual(pathlib.Path("/etc/passwd").read_bytes(), before)

    @unittest.skipUnless(IS_ROOT, "not root: without isolation there is nobody else to reach")
    def test_it_would_if_it_were_let(self):
        _, outcomes = self.prison("none").run_hostile()
        escaped = {name for name, (outcome, _) in outcomes.items() if outcome == "ESCAPED"}
        print(f"without isolation it breaks out in {len(escaped)} ways")
        # What containers or their hosts may refuse by themselves is not asked for.
        wanted = {
            "a file in the machine's /dev/shm",
            "a file in the machine's /tmp",
            "a setuid program",
            "the system's bus",
            "the users' own services",
            "processes without end",
            "to see that another job runs",
        }
        if usable_device():
            wanted.add("a device that anybody may open by its mode")
        self.assertLessEqual(wanted, escaped)


if __name__ == "__main__":
    unittest.main()
