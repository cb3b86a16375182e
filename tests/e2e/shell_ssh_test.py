"""ssh, scp and sftp into a running job by `hai ssh`, with Debian's OpenSSH, as a Unix user who is there for this test
only."""

import contextlib
import ctypes
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

from cluster import Cluster, ClusterTest, eventually, programs
from oci_image import free_port

IS_ROOT = os.geteuid() == 0
USER, UID = ("hai-test", 64_321) if IS_ROOT else (pwd.getpwuid(os.geteuid()).pw_name, os.geteuid())
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
WORDS = "one two's \"three\" $four"


# What an editor's server does that is of interest here: answers at a port of 127.0.0.1 and at a socket in a folder,
# and says its number by a pipe.
SERVER = """
import os, socketserver, sys, threading

class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"server %d of rank %s heard %s" % (os.getpid(), os.environb[b"HAI_NODE_RANK"], line))

port = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)
near = socketserver.ThreadingUnixStreamServer(sys.argv[1], Answer)
threading.Thread(target=near.serve_forever, daemon=True).start()
with open(sys.argv[2], "w") as pipe:
    pipe.write("%d\\n" % port.server_address[1])
port.serve_forever()
"""
# Sent to `bash` on standard input, which stays open afterwards.
INSTALL = f"""
folder=$(mktemp -d)
cat > $folder/server.py <<'END'{SERVER}END
mkfifo $folder/pipe
nohup /usr/bin/python3 $folder/server.py $folder/near $folder/pipe > $folder/log 2>&1 < /dev/null &
read port < $folder/pipe
echo "listeningOn==$port==$folder/near=="
"""


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

    @contextlib.contextmanager
    def kept_open(self, *words):
        """ssh as an editor keeps it: without a terminal, with pipes."""
        with subprocess.Popen(
            ["ssh", "-F", str(self.config()), "-T", "-o", "ExitOnForwardFailure=yes", *map(str, words)],
            env={"PATH": os.environ["PATH"], "HOME": str(self.cluster.root / "home")},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def install(self, process):
        """Where the server that it starts listens: a port and a socket."""
        process.stdin.write(INSTALL)
        process.stdin.flush()
        line = process.stdout.readline()
        said = re.fullmatch(r"listeningOn==(\d+)==(.+)==\n", line)
        self.assertTrue(said, line)
        return int(said[1]), said[2]

    @staticmethod
    def by_socks(proxy, host, port):
        """A connection as SOCKS5 has it (RFC 1928), to a name."""
        connection = socket.create_connection(("127.0.0.1", proxy), timeout=30)
        connection.sendall(b"\5\1\0")
        assert connection.recv(2) == b"\5\0"
        connection.sendall(b"\5\1\0\3" + bytes([len(host)]) + host.encode() + port.to_bytes(2, "big"))
        said = connection.recv(10)
        assert said[:2] == b"\5\0", said
        return connection

    def answer(self, connection, word="word"):
        with connection:
            connection.sendall(f"{word}\n".encode())
            with connection.makefile() as lines:
                return lines.readline()

    def test_an_editor_comes_in_by_a_socks_proxy_and_comes_back_after_a_cut(self):
        proxy = free_port()
        with self.kept_open("-D", proxy, "hai-train", "bash") as first:
            port, _ = self.install(first)
            said = self.answer(self.by_socks(proxy, "127.0.0.1", port))
            self.assertRegex(said, r"^server \d+ of rank 0 heard word$")
            self.assertEqual(self.answer(self.by_socks(proxy, "localhost", port)), said)
            many = [self.by_socks(proxy, "127.0.0.1", port) for _ in range(20)]
            self.assertEqual({self.answer(each) for each in many}, {said})
            first.stdin.write("echo still here\n")
            first.stdin.flush()
            self.assertEqual(first.stdout.readline(), "still here\n")
        with self.kept_open("-D", proxy, "hai-train", "bash") as second:  # the first was killed
            second.stdin.write(f"kill -0 {said.split()[1]} && echo it lives\n")
            second.stdin.flush()
            self.assertEqual(second.stdout.readline(), "it lives\n")
            self.assertEqual(self.answer(self.by_socks(proxy, "127.0.0.1", port)), said)
            second.stdin.write(f"kill {said.split()[1]}\n")
            second.stdin.close()
            self.assertEqual(second.wait(30), 0)

    def test_ports_and_sockets_are_forwarded(self):
        here, near = free_port(), self.cluster.root / "near"
        with self.kept_open("hai-train", "bash") as editor:
            port, far = self.install(editor)
            with self.kept_open("-N", "-L", f"{here}:127.0.0.1:{port}", "-L", f"{near}:{far}", "hai-train") as forwards:

                def reach(family, address):
                    connection = socket.socket(family)
                    connection.settimeout(30)
                    try:
                        connection.connect(address)
                    except OSError:
                        connection.close()
                        self.assertIsNone(forwards.poll())
                        return None
                    return connection

                for family, address in ((socket.AF_INET, ("127.0.0.1", here)), (socket.AF_UNIX, str(near))):
                    said = self.answer(eventually("it is forwarded", lambda: reach(family, address)))
                    self.assertRegex(said, r"^server \d+ of rank 0 heard word$")
            editor.stdin.write(f"kill {said.split()[1]}\n")
            editor.stdin.close()
            self.assertEqual(editor.wait(30), 0)

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
