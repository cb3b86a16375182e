"""A person's way into a running job: `hai shell` and `hai forward`, on nodes that confine their ranks
strictly where the test runs as root."""

import http.client
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from cluster import ClusterTest, eventually, programs
from terminal import Terminal

IS_ROOT = os.geteuid() == 0
# Users that every Debian machine has; whoever runs the tests, if that is not root.
ANN = "nobody" if IS_ROOT else pwd.getpwuid(os.geteuid()).pw_name
BOB = "daemon"
SETTINGS = f"isolation: strict\nconfinement: {{system_users: [{ANN}, {BOB}]}}\n"
STAYS = "echo $$ >pid.$HAI_RANK; exec sleep 600"
AT_ONCE = 200


def processes_with(word):
    """The pids of processes that were started with this word."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if word.encode() in words:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


class ShellTest(ClusterTest):
    shape = {"name": "shell", "nodes": 2}

    @classmethod
    def setUpClass(cls):
        settings = pathlib.Path(tempfile.mkdtemp(prefix="hai-e2e-shell-")) / "settings.yaml"
        settings.write_text(SETTINGS)
        cls.addClassCleanup(settings.parent.rmdir)
        cls.addClassCleanup(settings.unlink)
        cls.up_options = tuple(
            word for node in ("node-1", "node-2") for word in ("--agent-config", f"{node}={settings}")
        )
        super().setUpClass()
        cls.cluster.work.chmod(0o777)
        cls.env = cls.cluster.as_user(ANN) if IS_ROOT else {}
        cls.other = cls.cluster.as_user(BOB)

    def start_job(self, name, script=STAYS, nodes=1, gpus=2):
        self.cluster.file(f"{name}.sh", script)
        spec = self.cluster.spec(name, f"{name}.sh", nodes=nodes, gpus=None if nodes > 1 else gpus,
                                 environments={"SHELL": "/bin/sh"})
        self.cluster.people[ANN] = self.env
        job = self.cluster.run_as(ANN, spec)
        self.addCleanup(self.stop, job)
        self.cluster.wait_running(job)
        return job

    def stop(self, job):
        self.cluster.hai("stop", job)
        self.cluster.hai("wait", job, "--timeout", "60s", seconds=90)

    def shell(self, job, *words, **options):
        return self.cluster.hai("shell", job, *words, env=self.env, **options)

    def start_shell(self, job, *words):
        process = subprocess.Popen(
            [str(programs() / "hai"), "shell", str(job), *map(str, words)],
            env=self.cluster.environment(**self.env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(self.close_shell, process)
        return process

    @staticmethod
    def close_shell(process):
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def terminal(self, job, *words, **size):
        command = [str(programs() / "hai"), "shell", str(job), *words]
        # A shell that draws nothing but its prompt.
        environment = self.cluster.environment(**self.env, TERM="dumb")
        terminal = Terminal(command, environment, **size)
        self.addCleanup(terminal.close)
        return terminal

    # -- what it is

    def test_a_command_is_one_of_the_ranks_own(self):
        job = self.start_job("own", f"cat /proc/self/cgroup; ls -l /proc/self/ns/mnt; {STAYS}", gpus=2)
        said = self.cluster.log(job)
        script = "cat /proc/self/cgroup; ls -l /proc/self/ns/mnt"
        done = self.shell(job, "--", "sh", "-c", script)
        self.assertEqual(done.code, 0, done)
        limits = [line for line in said.splitlines() if ":/hai/" in line]
        self.assertEqual([line for line in done.out.splitlines() if ":/hai/" in line], limits)
        if IS_ROOT:
            mounts = [line for line in said.splitlines() if "mnt:[" in line][0].split("->")[1]
            self.assertIn(mounts, done.out)
        script = "id -un; pwd; echo $HAI_JOB_ID $CUDA_VISIBLE_DEVICES; grep NoNewPrivs /proc/self/status"
        done = self.shell("own", "--", "sh", "-c", script)
        self.assertEqual(
            done.out.splitlines()[:4],
            [ANN, str(self.cluster.work), f"{job} 0,1", f"NoNewPrivs:\t{int(IS_ROOT)}"],
            done,
        )

    def test_bytes_and_codes_pass_as_they_are(self):
        job = self.start_job("bytes")
        data = os.urandom(3 << 20)
        process = self.start_shell(job, "--", "cat")
        out, err = process.communicate(data, timeout=60)
        self.assertTrue(out == data, f"{len(out)} bytes of {len(data)} came back")
        self.assertEqual((err, process.returncode), (b"", 0))
        done = self.shell(job, "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual((done.code, done.out, done.err), (7, "out\n", "err\n"))
        done = self.shell(job, "--", "sh", "-c", "kill -TERM $$")
        self.assertEqual(done.code, 128 + signal.SIGTERM)
        # Without a command it is a shell that reads what comes; its children do not hold it up.
        done = self.shell(job, stdin="echo $((6 * 7)); sleep 600 &\n")
        self.assertEqual((done.code, done.out), (0, "42\n"), done)

    def test_a_terminal_is_one(self):
        job = self.start_job("terminal")
        terminal = self.terminal(job, columns=90, rows=30)
        terminal.type("stty size; tty\r")
        terminal.see("30 90", "/dev/pts/")
        terminal.type("echo mine >$(tty)\r")
        terminal.until("it has written there", lambda seen: re.search(r"^(\$ )?mine$", seen, re.M))
        terminal.resize(70, 20)
        # Keys and the new size come by ways of their own.
        terminal.type("until [ \"$(stty size)\" = '20 70' ]; do sleep 0.1; done; echo is $(stty size)\r")
        terminal.see("is 20 70")
        terminal.type("sh -c 'echo a$((1 + 1))b; exec sleep 500'\r")
        terminal.see("a2b")
        terminal.type("\x03")  # Ctrl-C reaches what runs there
        terminal.type("echo code $?\r")
        terminal.see(f"code {128 + signal.SIGINT}")
        terminal.type("exit 3\r")
        self.assertEqual(terminal.end(), 3)
        self.assertTrue(terminal.is_as_before())

    def test_tilde_and_dot_leave_at_once(self):
        job = self.start_job("tilde")
        terminal = self.terminal(job, "-t", "--", "sh", "-c", "echo here; exec sleep 555.25")
        terminal.see("here")
        terminal.type("~.")
        self.assertEqual(terminal.end(), 130)
        terminal.see(f"left job {job}, it goes on")
        self.assertTrue(terminal.is_as_before())
        eventually("what ran there has ended", lambda: not processes_with("555.25"))

    # -- who gets in, and where to

    def test_bad_input_is_one_clear_error(self):
        job = self.start_job("mine")
        hai = self.cluster.hai
        for env in (self.other, {}) if IS_ROOT else (self.other,):  # nor may an administrator
            refused = hai("shell", job, "--", "id", env=env)
            self.assertEqual((refused.code, refused.out), (4, ""))
            self.assertEqual(refused.err, f"hai: job {job} belongs to {ANN}: only he gets into it\n")
        reader = self.cluster.ok("token", "create", "--user", ANN, "--scope", "read").strip()
        own = self.cluster.json("context")[0]["name"]
        url = "https://" + self.cluster.status()["grpc"]
        self.cluster.ok("init", reader, "--url", url, "--ca", self.cluster.ca_file, "--name", "reader")
        self.cluster.ok("context", "use", own)
        later = ("--depends-on", job)
        waits = self.cluster.json("exec", "true", "--", *later, env=self.env)["id"]
        self.addCleanup(self.stop, waits)
        array = self.cluster.json("exec", "true", "--", "--array", "0-1", *later, env=self.env)["id"]
        self.addCleanup(self.stop, array)
        for words, code, said in (
            ((job, "-r", 1), 3, f"job {job} has ranks 0 to 0, not 1"),
            ((10**9,), 3, f"job {10**9} does not exist"),
            (("nothing",), 3, f"{ANN} has no job named nothing"),
            ((waits,), 4, f"job {waits} is queued: only into one that runs there is a way"),
            ((array,), 4, f"name one, as {array}_0"),
            ((job, "--", "no-such-program"), 4, "no-such-program is no program here"),
            ((job, "--", "/etc/passwd"), 4, "cannot execute /etc/passwd: Permission denied"),
        ):
            refused = self.shell(*words)
            self.assertEqual(refused.code, code, refused)
            self.assertIn(said, refused.err)
            self.assertEqual(len(refused.err.splitlines()), 1, refused.err)
        refused = hai("shell", job, "--", "id", env={"HAI_CONTEXT": "reader"})
        self.assertEqual(refused.code, 4)
        self.assertIn("a token of scope read opens no shell", refused.err)
        self.assertEqual(self.shell("mine", "--", "true").code, 0)

    def test_what_was_opened_stands_in_the_audit_log(self):
        job = self.start_job("audited")
        self.shell(job, "--", "echo", "seen")
        self.cluster.hai("shell", job, "--", "id", env=self.other)
        entries = eventually(
            "both are written",
            lambda: (lambda found: found if len(found) == 2 else None)(
                [
                    (entry["user"], entry["result"], entry["text"].split(";")[0])
                    for entry in self.cluster.json("audit", "-n", 1000)
                    if entry["call"] == "Shell" and entry["target"] == f"job/{job}"
                ]
            ),
        )
        self.assertEqual(
            sorted(entries), [(BOB, "permission_denied", "rank 0: id"), (ANN, "ok", "rank 0: echo seen")]
        )

    # -- how it ends

    def test_it_ends_with_its_rank(self):
        job = self.start_job("ends")
        process = self.start_shell(job, "--", "sh", "-c", "trap '' HUP TERM; echo in; sleep 556.5; sleep 556.5")
        self.assertEqual(process.stdout.readline(), b"in\n")
        self.stop(job)
        self.assertNotEqual(process.wait(timeout=30), 0)
        eventually("what ran there has ended", lambda: not processes_with("556.5"))

    def test_it_ends_with_whoever_opened_it(self):
        job = self.start_job("gone")
        # One that reads what is typed, and one that does not, with more typed than fits anywhere.
        for number, script in (("557.25", "echo in; sleep 557.25"), ("558.25", "echo in; sleep 558.25 <&-")):
            process = self.start_shell(job, "--", "sh", "-c", script)
            self.assertEqual(process.stdout.readline(), b"in\n")
            if number == "558.25":
                writer = threading.Thread(target=self.fill, args=(process,), daemon=True)
                writer.start()
            eventually("it runs", lambda: processes_with(number))
            process.kill()
            eventually("what ran there has ended", lambda: not processes_with(number))

    @staticmethod
    def fill(process):
        try:
            for _ in range(512):
                process.stdin.write(bytes(1 << 16))
                process.stdin.flush()
        except OSError:
            pass  # it was killed meanwhile, as it should be

    def test_ended_ones_leave_nothing_at_the_agent(self):
        job = self.start_job("left")
        (node,) = self.cluster.job(job)["nodes"]
        (agent,) = [each["agent_pid"] for each in self.cluster.status()["nodes"] if each["name"] == node]

        def files():
            return len(os.listdir(f"/proc/{agent}/fd"))

        self.shell(job, "--", "true")
        eventually("the agent is as before", lambda: files() < 100)
        before = files()
        for words in (("true",), ("sleep", "0.1")):  # that read nothing of what is typed
            shells = [self.start_shell(job, "--", *words) for _ in range(20)]
            for process in shells:
                threading.Thread(target=self.fill, args=(process,), daemon=True).start()
            for process in shells:
                self.assertEqual(process.wait(timeout=180), 0)  # twenty floods beside other tests
        eventually("nothing is left", lambda: files() <= before + 3)
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {programs() / 'hai'} shell {job} -- cat <&-"],
            env=self.cluster.environment(**self.env), capture_output=True, timeout=30,
        )
        self.assertEqual((done.returncode, done.stdout), (0, b""), "without a standard input")

    def test_a_revoked_token_ends_it(self):
        job = self.start_job("revoked")
        token = self.cluster.ok("token", "create", "--user", ANN, "--label", "short").strip()
        own = self.cluster.json("context")[0]["name"]
        url = "https://" + self.cluster.status()["grpc"]
        self.cluster.ok("init", token, "--url", url, "--ca", self.cluster.ca_file, "--name", "short")
        self.cluster.ok("context", "use", own)
        process = subprocess.Popen(
            [str(programs() / "hai"), "shell", str(job), "--", "sh", "-c", "echo in; exec sleep 559.5"],
            env=self.cluster.environment(HAI_CONTEXT="short"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "in\n")
        (entry,) = [each for each in self.cluster.json("token", "list", "--user", ANN) if each["label"] == "short"]
        self.cluster.ok("token", "revoke", entry["id"])
        began = time.monotonic()
        self.assertNotEqual(process.wait(timeout=20), 0)
        self.assertLess(time.monotonic() - began, 5)
        self.assertIn("hai: ", process.stderr.read())
        eventually("what ran there has ended", lambda: not processes_with("559.5"))

    def test_the_end_of_server_and_agent_is_told(self):
        job = self.start_job("outage")
        for target, said in (("agent:node-1", "is lost"), ("server", "is lost")):
            node = self.cluster.job(job)["nodes"][0]
            target = target.replace("node-1", node)
            process = self.start_shell(job, "--", "sh", "-c", "echo in; exec sleep 560.5")
            self.assertEqual(process.stdout.readline(), b"in\n")
            self.addCleanup(self.cluster.hai, "dev", "start", "--name", "shell", "--data", self.cluster.data, target)
            self.cluster.kill(target)
            began = time.monotonic()
            self.assertEqual(process.wait(timeout=30), 5)
            self.assertLess(time.monotonic() - began, 12)
            self.assertIn(said, process.stderr.read().decode())
            self.cluster.start(target)
            eventually("there is a way again", lambda: self.shell(job, "--", "true").code == 0)
        self.assertEqual(self.cluster.job(job)["attempt"], 1)

    def test_many_at_once(self):
        job = self.start_job("many", nodes=2)
        shells = [self.start_shell(job, "-r", number % 2, "--", "cat") for number in range(AT_ONCE)]
        for number, process in enumerate(shells):
            process.stdin.write(b"%d\n" % number)
            process.stdin.flush()
        for number, process in enumerate(shells):
            answer = process.stdout.readline()
            self.assertEqual(answer, b"%d\n" % number, answer or process.stderr.read())
        for process in shells:
            process.stdin.close()
        for process in shells:
            self.assertEqual(process.wait(timeout=60), 0)

    # -- ports

    def forward(self, job, ports, *words):
        process = subprocess.Popen(
            [str(programs() / "hai"), "forward", str(job), ports, *words],
            env=self.cluster.environment(**self.env),
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process, process.stderr.readline()

    def test_a_port_of_the_job_is_reached(self):
        port_file = self.cluster.work / "port"
        job = self.start_job(
            "web",
            "exec python3 -c 'import http.server, os; "
            's = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler); '
            'open("port.new", "w").write(str(s.server_port)); os.rename("port.new", "port"); '
            "s.serve_forever()'",
        )
        there = int(eventually("it listens", lambda: port_file.exists() and port_file.read_text()))
        process, line = self.forward(job, f"{there}:0")
        self.assertRegex(line, rf"127\.0\.0\.1:\d+ is port {there} of rank 0 of job {job} on node-\d")
        here = int(line.split("127.0.0.1:")[1].split()[0])
        for _ in range(3):
            connection = http.client.HTTPConnection("127.0.0.1", here, timeout=30)
            connection.request("GET", "/web.sh")
            self.assertIn("serve_forever", connection.getresponse().read().decode())
            connection.close()
        # One that hangs up in the middle takes the others' ways with it no more than itself.
        (self.cluster.work / "large").write_bytes(bytes(32 << 20))
        with socket.create_connection(("127.0.0.1", here)) as link:
            link.sendall(b"GET /large HTTP/1.0\r\n\r\n")
            self.assertTrue(link.recv(1_000))
        connection = http.client.HTTPConnection("127.0.0.1", here, timeout=30)
        connection.request("GET", "/large")
        self.assertEqual(len(connection.getresponse().read()), 32 << 20)
        connection.close()
        self.assertIsNone(process.poll())
        # What nobody answers there, and a port that is taken here.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            nobody = taken.getsockname()[1]
            refused, line = self.forward(job, f"{nobody}:{here}")
            self.assertEqual(refused.wait(timeout=30), 4)
            self.assertIn(f"cannot listen at port {here} here: Address already in use", line)
            silent, line = self.forward(job, f"{nobody}:0")
            with socket.create_connection(("127.0.0.1", int(line.split("127.0.0.1:")[1].split()[0]))) as link:
                self.assertEqual(link.recv(1), b"")
            self.assertIn(f"nothing answers at port {nobody} there: Connection refused", silent.stderr.readline())
        for words in (("x:y",), (":80",), ("0",), ("70000",), ("80:-1",)):
            self.assertEqual(self.cluster.hai("forward", job, *words).code, 2)
        done = self.cluster.hai("forward", job, "web", env=self.env)
        self.assertEqual((done.code, f"job {job}: it has no services; a number is a port of its rank 0" in done.err), (3, True), done)


if __name__ == "__main__":
    unittest.main()
