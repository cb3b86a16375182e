"""A real sshd on the loopback, with the PAM stack of deploy/pam/sshd: its /etc/pam.d/sshd,
/etc/passwd and /run are in a mount namespace of its own, so that the machine's stay as they are."""

import pathlib
import pwd
import shlex
import shutil
import subprocess

from cluster import REPOSITORY, eventually, programs
from servers import free_port

SSHD = "/usr/sbin/sshd"
PAM_SERVICE = pathlib.Path("/etc/pam.d/sshd")
CONFIG = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
AuthenticationMethods publickey
StrictModes no
UsePAM yes
PermitRootLogin yes
UseDNS no
PidFile none
LogLevel VERBOSE
"""
# The mounts end with the last process in the namespace.
START = """\
set -e
mount --bind {folder}/pam /etc/pam.d/sshd
mount --bind {folder}/passwd /etc/passwd
mount -t tmpfs tmpfs /run
mkdir -m 755 /run/sshd
exec {sshd} -D -e -f {folder}/config
"""


def missing():
    """What this machine lacks to run one; "" if nothing."""
    if not pathlib.Path(SSHD).exists() or not PAM_SERVICE.exists():
        return "no sshd: openssh-server is not installed"
    if not shutil.which("ssh"):
        return "no ssh: openssh-client is not installed"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        return "no mount namespaces here"
    return ""


class Sshd:
    def __init__(self, folder, agent_config, users, hai_pam=None):
        """`users`: those of the machine who get a shell; `hai_pam`: another one than this build's."""
        self.folder, self.port = pathlib.Path(folder), free_port()
        self.folder.mkdir()
        self.folder.chmod(0o755)  # sshd reads the keys as the user
        for name in ("host_key", "key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
            subprocess.run(words, check=True, timeout=60)
        public = (self.folder / "host_key.pub").read_text().split()
        self.write("known_hosts", f"[127.0.0.1]:{self.port} {public[0]} {public[1]}\n")
        self.write("config", CONFIG.format(port=self.port, folder=self.folder))
        self.write("pam", self.pam(hai_pam or programs() / "hai-pam", agent_config))
        self.write("passwd", self.passwd(users))
        self.log = self.folder / "sshd.log"
        start = START.format(folder=shlex.quote(str(self.folder)), sshd=SSHD)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", start],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            )
        eventually("sshd listens", lambda: "Server listening" in self.log.read_text())

    def write(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o644)

    @staticmethod
    def pam(hai_pam, agent_config):
        """What a site has in /etc/pam.d/sshd, with the paths of this build and node."""
        example = (REPOSITORY / "deploy" / "pam" / "sshd").read_text()
        ours = f"{hai_pam} --config {agent_config}"
        if example.count("/usr/bin/hai-pam") != 2:
            raise AssertionError("deploy/pam/sshd does not run /usr/bin/hai-pam twice")
        return example.replace("/usr/bin/hai-pam", ours)

    def passwd(self, users):
        lines = []
        for entry in pwd.getpwall():
            home, shell = entry.pw_dir, entry.pw_shell
            if entry.pw_name in users:
                home, shell = "/", "/bin/sh"
            fields = (entry.pw_name, "x", entry.pw_uid, entry.pw_gid, entry.pw_gecos, home, shell)
            lines.append(":".join(map(str, fields)))
        return "\n".join(lines) + "\n"

    def words(self, user, *command):
        options = {
            "IdentityFile": self.folder / "key",
            "UserKnownHostsFile": self.folder / "known_hosts",
            "BatchMode": "yes",
            "StrictHostKeyChecking": "yes",
            "IdentitiesOnly": "yes",
            "ConnectTimeout": "20",
        }
        words = ["ssh", "-F", "none", "-p", str(self.port)]
        for key, value in options.items():
            words += ["-o", f"{key}={value}"]
        return [*words, f"{user}@127.0.0.1", *command]

    def ssh(self, user, command):
        """Runs it there as this user, to its end."""
        return subprocess.run(
            self.words(user, command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def start(self, user, command):
        """Runs it there beside the test."""
        return subprocess.Popen(
            self.words(user, command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
