"""Bad input: one clear error that names the field and the line and says what is allowed; exit code
2 or 4; nothing changes and nothing crashes."""

import os
import random
import socket
import stat
import subprocess
import unittest

from bad_specs import GOOD, cases
from cluster import ClusterTest, eventually, programs


class SpecTest(ClusterTest):
    shape = {"name": "bad", "nodes": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.file("run.sh", "#!/bin/sh\nexit 0\n")
        cls.cluster.file("notes.txt", "no program\n", mode=0o644)

    def setUp(self):
        self.before = self.state()

    def state(self):
        jobs = self.cluster.json("list", "-a", "--finished")
        return (
            jobs,
            self.cluster.status()["server"],
            [event["seq"] for event in self.cluster.json("events", "--kind", "job_submitted")],
        )

    def refused(self, result, *words):
        self.assertIn(result.code, (2, 4), result)
        self.assertEqual(result.out, "")
        for word in words:
            self.assertIn(word, result.err, result)
        self.assertLess(len(result.err), 2_000, "an error is for reading")
        self.assertNotRegex(
            result.err, r"[\x00-\x09\x0b-\x1f\x7f]", "nothing that moves the cursor"
        )
        self.assertEqual(self.state(), self.before)

    def test_the_table(self):
        for name, text, line, words in cases():
            with self.subTest(name):
                path = self.cluster.file(
                    "case.yaml", text.replace("{work}", str(self.cluster.work))
                )
                result = self.cluster.hai("run", path)
                self.refused(result, *words)
                self.assertRegex(result.err, r"\A(hai: [^\n]+\n)+\Z")
                if words:
                    self.assertEqual(result.err.count("\n"), 1, result)
                if line:
                    self.assertIn(f"{path}: line {line}: ", result.err)

    def test_all_errors_at_once_in_line_order(self):
        text = (
            GOOD.replace("{work}", str(self.cluster.work))
            .replace("normal", "urgent")
            .replace("node_count: 1", "node_count: x")
        )
        path = self.cluster.file("case.yaml", text)
        result = self.cluster.hai("run", path)
        self.refused(result, "line 3: priority", "line 10: resource.node_count")

    def test_files_that_are_no_job(self):
        junk = self.cluster.work / "junk.yaml"
        junk.write_bytes(random.Random(1).randbytes(5_000))
        self.refused(self.cluster.hai("run", junk), "junk.yaml")
        empty = self.cluster.file("empty.yaml", "")
        self.refused(self.cluster.hai("run", empty), "empty.yaml")
        huge = self.cluster.file("huge.yaml", GOOD + "# " + "x" * 10_000_000 + "\n")
        self.refused(self.cluster.hai("run", huge), "huge.yaml", "at most")
        deep = self.cluster.file("deep.yaml", "[" * 50_000)
        self.refused(self.cluster.hai("run", deep), "deep.yaml")
        bomb = "\n".join(
            ["a0: &a0 [x, x, x, x]"]
            + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
        )
        self.refused(self.cluster.hai("run", self.cluster.file("bomb.yaml", bomb)), "bomb.yaml")
        self.refused(self.cluster.hai("run", self.cluster.work), "work")
        self.refused(self.cluster.hai("run", self.cluster.work / "nowhere.yaml"), "nowhere.yaml")
        self.refused(self.cluster.hai("run", "/dev/zero"))

    def test_options_of_the_command_line(self):
        for options, words in (
            (["-n", "-1"], ["-n"]),
            (["-n", "x"], ["x"]),
            (["-n", "99999999999999"], ["-n"]),
            (["-p", "urgent"], ["urgent"]),
            (["-g", "nowhere"], ["nowhere", "training"]),
            (["--gpus", "3"], ["gpus_per_node"]),
            (["--name", "a b"], ["name"]),
            (["--grace", "soon"], ["--grace"]),
            (["-e", "=x"], ["--env"]),
            (["--launch", "x"], ["per_gpu"]),
            (["--env", "NOT_SET_ANYWHERE"], ["NOT_SET_ANYWHERE"]),
        ):
            with self.subTest(options):
                self.refused(self.cluster.hai("exec", "true", "--", *options), *words)
        self.refused(self.cluster.hai("python", "nowhere.py", "--", "-n", "1"), "nowhere.py")
        self.refused(self.cluster.hai("bash", "nowhere.sh", "--", "-n", "1"), "nowhere.sh")
        self.refused(
            self.cluster.hai("exec", "no-such-program", "--", "-n", "1"), "no-such-program"
        )

    def test_names_that_are_none(self):
        for words in (
            ["status", "\x1b[2J"],
            ["stop", "x" * 5_000],
            ["logs", "../../etc/passwd"],
            ["why", "-1"],
            ["nodes", "no de"],
            ["drain", "node-[1-"],
            ["drain", "node-[1-999999999]"],
            ["quota", "set", "nobody-there", "-5"],
            ["user", "set", "bad name"],
        ):
            with self.subTest(words):
                result = self.cluster.hai(*words)
                self.assertIn(result.code, (2, 3, 4), result)
                self.assertLess(len(result.err), 7_000)
                self.assertNotIn("\x1b", result.err)


class JunkTest(ClusterTest):
    """Bytes that no client of ours would send, to every socket there is."""

    shape = {"name": "junk", "nodes": 1}

    def setUp(self):
        self.pids = self.all_pids()

    def all_pids(self):
        status = self.cluster.status()
        return [
            status["server"]["pid"],
            status["postgres_pid"],
            *(node["agent_pid"] for node in status["nodes"]),
        ]

    def tearDown(self):
        self.assertEqual(self.all_pids(), self.pids, "somebody crashed")
        job = self.cluster.exec("true")
        self.cluster.wait_end(job)

    def payloads(self):
        dice = random.Random(2)
        yield b""
        yield b"\0" * 1_000
        yield b"\n" * 1_000
        yield dice.randbytes(100_000)
        yield b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\n\r\n"
        yield b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(5_000)) + b"\r\n"
        yield b"POST /api/v1/jobs HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n{"
        yield b"POST /api/v1/jobs HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nx"
        yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + dice.randbytes(10_000)
        yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + dice.randbytes(
            50_000
        )

    def throw(self, family, address, payload):
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            try:
                connection.connect(address)
                connection.sendall(payload)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass
            except OSError:
                pass  # it may hang up at any moment

    def test_junk_to_the_ports_of_the_server(self):
        status = self.cluster.status()
        for port in (status["grpc"].rpartition(":")[2], status["http"].rpartition(":")[2]):
            for payload in self.payloads():
                self.throw(socket.AF_INET, ("127.0.0.1", int(port)), payload)
        self.cluster.ok("list")

    def test_many_connections_that_say_nothing(self):
        status = self.cluster.status()
        silent = []
        try:
            for port in (status["grpc"].rpartition(":")[2], status["http"].rpartition(":")[2]):
                for _ in range(200):
                    silent.append(socket.create_connection(("127.0.0.1", int(port)), timeout=5))
            self.cluster.ok("list")
        finally:
            for connection in silent:
                connection.close()

    def test_junk_to_the_sockets_of_a_job(self):
        gate = self.cluster.work / "gate"
        job = self.cluster.exec(
            f"echo socket=$HAI_SOCKET; while [ ! -e {gate} ]; do sleep 0.05; done; exit 3"
        )
        text = eventually("the job says its socket", lambda: self.cluster.log(job))
        sockets = {text.strip().partition("=")[2]}
        for folder, _, names in os.walk(self.cluster.data):
            sockets.update(
                os.path.join(folder, name)
                for name in names
                if is_socket(os.path.join(folder, name)) and "postgres" not in folder
            )
        for path in sockets:
            for payload in (
                *self.payloads(),
                b"{" * 100_000 + b"\n",
                b'{"op":"go_suspend","op":7}\n' * 10,
                b'{"op":["receive_suspend_command"]}\n',
                b'[]\n"x"\n1e999\nnull\n',
                b'{"op":"report_progress","step":1e30}\n'
                b'{"op":"report_progress","step":-1}\n{"op":"report_checkpoint","step":1}\n'
                b'{"op":"set_whole_life_state","state":"' + b"x" * 1_000_000 + b'"}\n',
            ):
                self.throw(socket.AF_UNIX, path, payload)
        self.assertEqual(self.cluster.job(job)["state"], "running")
        gate.touch()
        self.assertEqual(self.cluster.hai("wait", job).code, 3)

    def test_other_programs_say_what_is_wrong_with_their_config(self):
        config = self.cluster.file("bad.yaml", "cluster: [\n")
        unknown = self.cluster.file(
            "unknown.yaml", "clustr: x\nlisten: {grpc: 127.0.0.1:1, htttp: x}\n"
        )
        for program in ("hai-server", "hai-agent"):
            for path in (config, unknown, self.cluster.work / "nowhere.yaml"):
                done = subprocess.run(
                    [str(programs() / program), "--config", str(path)],
                    capture_output=True,
                    text=True,
                    timeout=20,
                    env=self.cluster.environment(),
                )
                self.assertNotEqual(done.returncode, 0, (program, path))
                self.assertIn(path.name, done.stderr + done.stdout, (program, path))
            for option in ("--help", "--version"):
                done = subprocess.run(
                    [str(programs() / program), option], capture_output=True, text=True, timeout=20
                )
                self.assertEqual(done.returncode, 0, (program, option))
                self.assertIn(program, done.stdout)


def is_socket(path):
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
