"""ssh, scp and sftp into a running job by `hai ssh`, with Debian's OpenSSH, as a Unix user who is there for this test
only."""

import ctypes
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile
import unittest

from cluster import Cluster, ClusterTest, programs

IS_ROOT = os.geteuid() == 0
USER, UID = ("hai-test", 64_321) if IS_ROOT else (pwd.getpwuid(os.geteuid()).pw_name, os.geteuid())
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
WORDS = "one two's \"three\" $four"


def call(name, *arguments):
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        raise unittest.SkipTest(f"{name}: {os.strerror(ctypes.get_errno())}")


def add_account(folder):
    """For this process and all that it starts: /etc/passwd in a mount namespace of its own."""
    home = folder / "home"
    home.mkdir()
    os.chown(home, UID, UID)
    text = pathlib.Path("/etc/passwd").read_text() + f"{USER}:x:{UID}:{UID}::{home}:/bin/bash\n"
    (folder / "passwd").write_text(text)
    (folder / "passwd").chmod(0o644)
    call("unshare", CLONE_NEWNS)
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    call("mount", str(folder / "passwd").encode(), b"/etc/passwd", None, MS_BIND, None)


class ShellSshTest(ClusterTest):
    shape = {"name": "shell-ssh", "nodes": 2}

    @classmethod
    def setUpClass(cls):
        for program in ("ssh", "scp", "sftp", "ssh-keygen"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"no {program}: openssh-client is not installed")
        if not pathlib.Path("/usr/sbin/sshd").exists():
            raise unittest.SkipTest("no sshd: openssh-server is not installed")
        # Not in /tmp, which ranks have for their own.
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hai-e2e-ssh-", dir="/var/tmp"))
        folder.chmod(0o711)
        cls.addClassCleanup(shutil.rmtree, folder)
        if IS_ROOT:
            add_account(folder)
        settings = folder / "settings.yaml"
        settings.write_text("isolation: strict\n")
        (folder / "cluster").mkdir()
        cls.cluster = Cluster(name="shell-ssh", nodes=2, root=folder / "cluster")
        cls.addClassCleanup(cls.close_cluster)
        nodes = [word for node in ("node-1", "node-2") for word in ("--agent-config", f"{node}={settings}")]
        cls.cluster.up(*nodes)
        cls.cluster.work.chmod(0o777)
        cls.env = cls.cluster.as_user(USER) if IS_ROOT else {}
        cls.cluster.people[USER] = cls.env
        cls.cluster.file("stays.sh", "exec sleep 600")
        spec = cls.cluster.spec("train", "stays.sh", nodes=2, environments={"SAYS": WORDS})
        cls.job = cls.cluster.run_as(USER, spec)
        cls.cluster.wait_running(cls.job)

    def ssh(self, *words, **options):
        return self.cluster.hai("ssh", *words, env=self.env, **options)

    def config(self, *words):
        context = ["--context", self.env["HAI_CONTEXT"]] if self.env else []
        done = self.cluster.hai(*context, "ssh", "--config", "train", *words)
        self.assertEqual(done.code, 0, done)
        return self.cluster.file("ssh_config", done.out, 0o600)

    def run_with_config(self, program, *words, **options):
        """As an editor does it: without the variables of the shell that wrote the config."""
        return subprocess.run(
            [program, "-F", str(self.config()), *map(str, words)],
            env={"PATH": os.environ["PATH"], "HOME": str(self.cluster.root / "home")},
            capture_output=True, text=True, timeout=60, **options,
        )

    def test_a_command_has_what_the_rank_has(self):
        done = self.ssh("train", "-r", 1, "--", "id -un; echo $HAI_NODE_RANK $CUDA_VISIBLE_DEVICES; echo \"$SAYS\"")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(done.out, f"{USER}\n1 0,1,2,3,4,5,6,7\n{WORDS}\n")
        self.assertEqual(done.err, "")
        self.assertEqual(self.ssh("train", "--", "exit 5").code, 5)

    def test_scp_and_sftp_carry_files_both_ways(self):
        data = os.urandom(3 << 20)
        (self.cluster.work / "data").write_bytes(data)
        far = self.cluster.work / "far"
        far.mkdir()
        far.chmod(0o777)
        done = self.run_with_config("scp", self.cluster.work / "data", f"hai-train:{far}/data")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((far / "data").stat().st_uid, UID)
        done = self.run_with_config("scp", f"hai-train:{far}/data", self.cluster.work / "back")
        self.assertEqual((done.returncode, (self.cluster.work / "back").read_bytes() == data), (0, True), done)
        done = self.run_with_config("sftp", "-b", "-", "hai-train", input=f"ls {far}\n")
        self.assertIn("data", done.stdout)

    def test_errors_are_those_of_hai(self):
        done = self.ssh("train", "-r", 2)
        self.assertEqual((done.code, done.err), (3, f"hai: job {self.job} has ranks 0 to 1, not 2\n"))
        done = self.cluster.hai("ssh", "train", env=self.cluster.as_user("other") if IS_ROOT else {"HAI_CONTEXT": "x"})
        self.assertNotEqual(done.code, 0)
        self.assertEqual(len(done.err.splitlines()), 1, done)
        key = self.cluster.root / "ssh" / "id_ed25519"
        self.assertEqual(key.stat().st_mode & 0o077, 0)

    def test_two_at_once_from_two_machines(self):
        def start(home):
            """Another machine: its own contexts and key."""
            folder = self.cluster.root / home
            folder.mkdir()
            shutil.copy(self.cluster.root / "config.json", folder / "config.json")
            environment = self.cluster.environment(**self.env, HAI_CONFIG=folder / "config.json")
            return subprocess.Popen(
                [str(programs() / "hai"), "ssh", "train", "--", "cat"],
                env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )

        both = [start("laptop"), start("desk")]
        for process in both:
            process.stdin.write(b"here\n")
            process.stdin.flush()
        for process in both:
            self.assertEqual(process.stdout.readline(), b"here\n")
        for process in both:
            process.communicate(timeout=30)
            self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
