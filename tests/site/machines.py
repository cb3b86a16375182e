"""Booted machines: a Debian with systemd each, by systemd-nspawn, in a network namespace of its own on one
bridge. All begin with one tree; what a machine changes is its own layer, which survives its end."""

import argparse
import http.server
import os
import pathlib
import signal
import subprocess
import threading
import time
import urllib.parse

from doc import block
from network import Network
from world import wait

CGROUPS = pathlib.Path("/sys/fs/cgroup")
ENVIRONMENT = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8"]
APT_CONF = """APT::Get::Assume-Yes "true";
APT::Install-Recommends "false";
DPkg::Options { "--force-unsafe-io"; "--force-confold"; };
DPkg::Use-Pty "0";
"""
REPOSITORY_PORT = 8000
REBOOT = 133
DISK = "size=3G"


class Machine:
    def __init__(self, site, name):
        self.site, self.name = site, name
        self.address = site.network.address(name)
        self.folder = site.work / "machines" / name
        self.root = self.folder / "root"
        self.process, self.leader = None, 0

    def create(self):
        # Its disk is memory: it is gone with this process, and no other's writing holds it up.
        self.folder.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", DISK, "tmpfs", self.folder], check=True)
        for name in ("upper", "scratch", "root"):
            (self.folder / name).mkdir()
        layers = f"lowerdir={self.site.tree},upperdir={self.folder}/upper,workdir={self.folder}/scratch"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, self.root], check=True)
        hosts = [f"{self.site.network.address(name)} {name}" for name in self.site.network.numbers]
        self.write("etc/hosts", "127.0.0.1 localhost\n" + "\n".join(hosts) + "\n")
        self.write("etc/hostname", self.name + "\n")
        self.write("etc/apt/apt.conf.d/99site", APT_CONF)
        self.write("root/.ssh/id_ed25519", self.site.key.read_text())
        self.write("root/.ssh/authorized_keys", self.site.key.with_suffix(".pub").read_text())
        self.write("root/.ssh/config", "StrictHostKeyChecking accept-new\nLogLevel ERROR\n")
        (self.root / "root/.ssh/id_ed25519").chmod(0o600)
        self.write("etc/apt/sources.list", "")
        (self.root / "etc/machine-id").unlink(missing_ok=True)
        self.write("etc/machine-id", "")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def boot(self):
        if self.process and self.process.poll() is None:
            return
        binds = [f"--bind={path}" for path in self.site.shared]
        groups = [folder / f"hai-site-{self.name}" for folder in self.site.cgroups]
        for group in groups:
            group.mkdir(exist_ok=True)

        def enter():
            os.setsid()
            for group in groups:
                (group / "cgroup.procs").write_text("0")

        with open(self.folder / "console", "ab") as console:
            self.process = subprocess.Popen(
                [
                    *("systemd-nspawn", "-q", "-D", self.root, "--boot", "--register=no", "--keep-unit"),
                    *(f"--network-namespace-path=/run/netns/{self.name}", "--console=passive"),
                    *(f"--machine={self.name}", "--link-journal=no", "--resolv-conf=off", *binds),
                ],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                preexec_fn=enter,
            )

    def wait_booted(self, seconds=180):
        wait(f"{self.name} boots within {seconds} s", self.has_booted, seconds, pause=0.5)

    def has_booted(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        words = children.read_text().split() if children.exists() else []
        if not words:
            return False
        self.leader = int(words[0])
        said = self.run("systemctl is-system-running", check=False)
        return said.stdout.strip() in ("running", "degraded")

    def run(self, script, check=True, stdin=None, seconds=600):
        """A bash script, as root."""
        done = subprocess.run(
            [
                *("nsenter", f"--target={self.leader}", "--all", "env", "-i", "--chdir=/"),
                *(*ENVIRONMENT, "DEBIAN_FRONTEND=noninteractive", "bash", "-euc", script),
            ],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{self.name}: {script}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def says(self, script, **options):
        return self.run(script, **options).stdout.strip()

    def power_off(self):
        """The plug is pulled: every process is gone at once."""
        if self.process is None:
            return
        os.kill(self.leader, signal.SIGKILL)
        self.process.wait(timeout=60)
        self.process = None

    def shut_down(self, seconds=90):
        """As an operator does, and the machine stays off."""
        self.run("systemctl poweroff --no-block")
        self.process.wait(timeout=seconds)
        self.process = None

    def reboot(self, seconds=90):
        """As an operator does. systemd-nspawn ends with this code for its own unit to start it again."""
        self.run("systemctl reboot --no-block")
        code = self.process.wait(timeout=seconds)
        if code != REBOOT:
            raise AssertionError(f"{self.name} is rebooted, and systemd-nspawn ends with {code}")
        self.boot()
        self.wait_booted(seconds)


class Machines:
    """The site: what its machines share, and the network between them."""

    def __init__(self, work, tree, names):
        self.work, self.tree = pathlib.Path(work), pathlib.Path(tree)
        self.network = Network()
        self.network.build(["client", *names])
        self.shared = []  # folders of this machine that are at the same place on all of them
        self.cgroups = [CGROUPS / name for name in ("systemd", "unified") if (CGROUPS / name).is_dir()]
        self.cgroups = self.cgroups or [CGROUPS]
        self.machines = {name: Machine(self, name) for name in names}
        self.published = None
        self.key = self.make_key()

    def make_key(self):
        """By which root of one machine may go to another one, as a site's image has it."""
        key = self.work / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        return key

    def __getitem__(self, name):
        return self.machines[name]

    def boot(self, names=None):
        began = time.monotonic()
        chosen = [self.machines[name] for name in names or self.machines]
        for machine in chosen:
            machine.boot()
        for machine in chosen:
            machine.wait_booted()
        return time.monotonic() - began

    def publish(self, folder):
        """What all machines can install from now on: newer than what they have seen."""
        os.utime(pathlib.Path(folder) / "Packages")
        self.published = folder

    def serve_repository(self):
        """To all machines, by the line that install.md has for them."""
        site = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def translate_path(self, path):
                name = urllib.parse.unquote(pathlib.PurePosixPath(path).name)
                return str(pathlib.Path(site.published) / name)

            def log_message(self, *_):
                pass

        address = (self.network.address("client"), REPOSITORY_PORT)
        server = http.server.ThreadingHTTPServer(address, Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.tell_repository(address)

    def tell_repository(self, address):
        line = block("install.md", "sources.list.d/hai.list").splitlines()[-1]
        line = line.replace("repository.example/hai", f"{address[0]}:{REPOSITORY_PORT}")
        for machine in self.machines.values():
            machine.run(line)

    def diagnose(self):
        for name, machine in self.machines.items():
            if machine.process is None or not machine.leader:
                print(f"== {name}: off", (machine.folder / "console").read_text()[-500:])
                continue
            script = "systemctl list-units --no-pager --failed; journalctl --no-pager -p 4 -n 15 -o cat"
            said = machine.run(script, check=False, seconds=30)
            print(f"== {name}\n{said.stdout[-2500:]}", flush=True)

    def close(self):
        for machine in self.machines.values():
            if machine.process is not None:
                machine.power_off()
            subprocess.run(["umount", "-l", machine.root], check=False, capture_output=True)
        for folder in self.cgroups:
            for name in self.machines:
                subprocess.run(
                    ["find", folder / f"hai-site-{name}", "-depth", "-type", "d", "-delete"],
                    check=False, capture_output=True,
                )  # fmt: skip


def options_of(doc):
    """What run.sh tells a site, as a parser that may have more."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    for name, what in (
        ("work", "folder for the machines"),
        ("tree", "of a Debian, which all machines begin with"),
        ("old", "repository of the packages that are installed"),
        ("new", "and of those that they are upgraded to"),
    ):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True, help=what)
    return parser
