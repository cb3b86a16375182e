"""Machines that join by a token, nodes that renew their certificates, what revoking ends, and a CA
that is changed without a lost connection. Real servers and agents over TLS.
"""

import http.client
import json
import os
import pathlib
import re
import subprocess
import threading
import time
import unittest

from cluster import eventually, programs
from servers import TOKEN, ServersTest
from tls_test import TlsServers

LIBRARY = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
COMMAND = re.compile(r"^hai-agent join (\S+) --token (\S+) --ca-fingerprint (\S+)$")


class JoinServers(TlsServers):
    """A server that issues certificates of this life; agents that have none but what they join for."""

    def __init__(self, life="30d", **options):
        self.life = life
        super().__init__(nodes=0, **options)

    def server_config(self, server):
        config = super().server_config(server)
        authority = f', authority: "{self.ca}", node_certificate_life: {self.life}}}\n'
        return config.removesuffix("}\n") + authority

    def token(self, nodes, *options):
        """The words of the command that joins with a new token: server, secret, fingerprint."""
        done = self.hai("node", "token", "create", nodes, *options)
        assert done.code == 0, done
        return COMMAND.match(done.out.strip()).groups()

    def folder(self, name):
        return self.root / "nodes" / name

    def config(self, name):
        return self.folder(name) / "agent.yaml"

    def write_config(self, name):
        folder = self.folder(name)
        folder.mkdir(parents=True, exist_ok=True)
        self.config(name).write_text(
            f"""
name: {name}
group: training
address: 127.0.0.1
data_dir: "{folder}"
servers: ["127.0.0.1:{self.servers[0].grpc}"]
simulate_gpus: {self.gpus}
unknown_user_runs_as_self: true
isolation: shared
confinement: {{system_users: [root]}}
tls: {{ca: "{folder}/node-ca.crt", certificate: "{folder}/node.pem", key: "{folder}/node.pem"}}
"""
        )

    def agent(self, *words, stdin="", more_environment=None):
        return subprocess.run(
            [str(programs() / "hai-agent"), *map(str, words)],
            input=stdin, capture_output=True, text=True, timeout=90,
            env={**self.environment(), **(more_environment or {})},
        )  # fmt: skip

    def join(self, name, words, *more, **options):
        server, secret, fingerprint = words
        return self.agent(
            "join", server, "--token", secret, "--ca-fingerprint", fingerprint,
            "--config", self.config(name), *more, **options,
        )  # fmt: skip

    def start_joined(self, name, program=None):
        self.agents[name] = subprocess.Popen(
            [str(program or programs() / "hai-agent"), "--config", str(self.config(name))],
            stdout=open(self.root / f"{name}.log", "ab"),
            stderr=subprocess.STDOUT,
            env=self.environment(),
        )

    def join_and_start(self, name):
        self.write_config(name)
        done = self.join(name, self.token(name))
        assert done.returncode == 0, done.stdout + done.stderr
        self.start_joined(name)
        self.wait_node(name)

    def count(self, name, event):
        return self.log_of(name).count(event)

    def identity(self, name):
        return next(each for each in self.json("node", "identities") if each["node"] == name)


class JoinTest(ServersTest):
    make = JoinServers

    def refused(self, name, words, sentence, *more, code=1):
        """One line, nothing written."""
        self.cluster.write_config(name)
        done = self.cluster.join(name, words, *more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual([path.name for path in self.cluster.folder(name).iterdir()], ["agent.yaml"])

    def test_a_machine_joins_and_runs_jobs(self):
        cluster = self.cluster
        words = cluster.token("node-[1-3]", "--uses", "2", "--ttl", "1h", "--label", "rack 7")
        cluster.write_config("node-1")
        server, secret, fingerprint = words
        done = cluster.join("node-1", (server, "-", fingerprint), stdin=secret + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "^node-1 has joined servers; its certificate holds until ")
        pair = cluster.folder("node-1") / "node.pem"
        self.assertEqual(pair.stat().st_mode & 0o777, 0o600)
        authority = (cluster.folder("node-1") / "node-ca.crt").read_text()
        self.assertEqual(authority, (cluster.ca / "ca.crt").read_text())
        cluster.start_joined("node-1")
        self.addCleanup(cluster.end_agent, "node-1")
        cluster.wait_node("node-1")
        cluster.wait_end(cluster.exec("true"))
        # The key stands nowhere but there.
        said = cluster.servers[0].log.read_text() + cluster.log_of("node-1")
        self.assertNotIn("PRIVATE KEY", said)
        self.assertNotIn(secret, said)
        token = next(each for each in cluster.json("node", "token", "list") if each["uses_left"] == 1)
        self.assertEqual((token["nodes"], token["label"]), ("node-[1-3]", "rack 7"))
        self.assertEqual(cluster.identity("node-1")["joined_with"], token["id"])
        cluster.ok("node", "token", "revoke", token["id"])
        self.refused("node-2", words, "the join token is not known here or was revoked")

    def test_a_new_config_is_written_that_is_good(self):
        cluster = self.cluster
        folder = cluster.folder("fresh")
        folder.mkdir(parents=True)
        server, secret, fingerprint = cluster.token("fresh-1")
        done = cluster.join("fresh", (server, secret, fingerprint), "--name", "fresh-1",
                            "--group", "training", "--zone", 'A"b', "--leaf", "leaf-1")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(path.name for path in folder.iterdir())
        self.assertEqual(files, ["agent.yaml", "node-ca.crt", "node.pem"])
        check = cluster.agent("--config", cluster.config("fresh"), "--check-config")
        self.assertEqual(check.returncode, 0, check.stderr)
        # It is there now: a name of its own does not go with it.
        again = cluster.join("fresh", (server, secret, fingerprint), "--name", "fresh-2")
        self.assertIn("says that this node is fresh-1", again.stderr)

    def test_servers_that_the_config_does_not_name_are_not_joined(self):
        cluster = self.cluster
        words = server, _, _ = cluster.token("other-1")
        cluster.write_config("other-1")
        config, folder = cluster.config("other-1"), cluster.folder("other-1")
        config.write_text(config.read_text().replace(server, "127.0.0.1:1"))

        def refused(*more):
            done = cluster.join("other-1", words, *more)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn("agent.yaml says that the servers of this node are 127.0.0.1:1: name one", done.stderr)

        refused()
        refused("--once")
        self.assertEqual([path.name for path in folder.iterdir()], ["agent.yaml"])
        token = next(t for t in cluster.json("node", "token", "list") if t["nodes"] == "other-1")
        self.assertEqual(token["uses_left"], 1)
        # One that the cluster has told it of will do.
        (folder / "servers").write_text(server + "\n")
        self.assertEqual(cluster.join("other-1", words).returncode, 0)
        (folder / "servers").unlink()
        pair = (folder / "node.pem").read_text()
        refused("--once")
        self.assertEqual((folder / "node.pem").read_text(), pair)

    def test_a_name_that_answers_is_not_given_away_and_the_token_keeps_its_use(self):
        cluster = self.cluster
        cluster.join_and_start("taken-1")
        self.addCleanup(cluster.end_agent, "taken-1")
        words = cluster.token("taken-1", "--label", "for another machine")
        uses = lambda: [each["uses_left"] for each in cluster.json("node", "token", "list")  # noqa: E731
                        if each["label"] == "for another machine"]  # fmt: skip
        cluster.write_config("copied-1")
        config = cluster.config("copied-1")
        config.write_text(config.read_text().replace("name: copied-1", "name: taken-1"))
        done = cluster.join("copied-1", words)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("the name taken-1 belongs to the machine at ", done.stderr)
        self.assertIn("The join token has lost no use", done.stderr)
        self.assertEqual([path.name for path in config.parent.iterdir()], ["agent.yaml"])
        self.assertEqual(uses(), [1])
        # The machine itself may: its certificate was lost, say.
        self.assertEqual(cluster.join("taken-1", words).returncode, 0)
        self.assertEqual(uses(), [0])

    def agent_of_another_version(self, version, other):
        """A copy of the agent that says `other`; what it starts is beside it."""
        folder = self.cluster.root / "other-version"
        folder.mkdir()
        for path in programs().iterdir():
            (folder / path.name).symlink_to(path)
        (folder / "hai-agent").unlink()
        code = (programs() / "hai-agent").read_bytes()
        self.assertIn(version.encode(), code)
        (folder / "hai-agent").write_bytes(code.replace(version.encode(), other.encode()))
        (folder / "hai-agent").chmod(0o755)
        return folder / "hai-agent"

    def test_a_node_that_runs_another_build_is_told_apart(self):
        cluster = self.cluster
        version = cluster.agent("--version").stdout.split()[-1]
        other = "9" + version[1:]
        cluster.join_and_start("same-1")
        self.addCleanup(cluster.end_agent, "same-1")
        cluster.write_config("old-1")
        self.assertEqual(cluster.join("old-1", cluster.token("old-1")).returncode, 0)
        cluster.start_joined("old-1", self.agent_of_another_version(version, other))
        self.addCleanup(cluster.end_agent, "old-1")
        cluster.wait_node("old-1")
        told = {each["name"]: each["agent_version"] for each in cluster.json("nodes")}
        self.assertEqual((told["same-1"], told["old-1"]), (version, other))
        self.assertIn(f"version={other}", cluster.log_of("old-1"))
        findings = json.loads(cluster.hai("doctor", "--server-config", "/no", "--agent-config", "/no",
                                          "-o", "json").out)  # fmt: skip
        warned = [each["found"] for each in findings if each["verdict"] == "warn" and each["check"] == "server"]
        self.assertRegex("\n".join(warned), rf"the server is of version {re.escape(version)}, 1 of \d+ nodes of "
                                            rf"{re.escape(other)}: old-1")  # fmt: skip
        self.assertEqual(len(warned), 1, "the others are of the server's")

    def test_each_wrong_token_has_its_sentence(self):
        cluster = self.cluster
        server, secret, fingerprint = words = cluster.token("only-1")
        self.refused("w-1", words, "this join token is not for w-1, but for only-1")
        wrong = (server, secret[:-1] + ("0" if secret[-1] != "0" else "1"), fingerprint)
        self.refused("only-1", wrong, "the join token is not known here or was revoked")
        self.refused("only-1", (server, "a b", fingerprint), "--token: 1 to 255", code=2)
        cluster.write_config("only-1")
        self.assertEqual(cluster.join("only-1", words).returncode, 0)
        (cluster.folder("only-1") / "node.pem").unlink()
        (cluster.folder("only-1") / "node-ca.crt").unlink()
        self.refused("only-1", words, "the join token was used up")
        brief = cluster.token("brief-1", "--ttl", "1s")
        eventually(
            "it is over",
            lambda: "ended at" in cluster.join("brief-1", brief).stderr
            if cluster.write_config("brief-1") is None
            else None,
        )
        # A person's token is none with which machines join, and the other way round.
        own = json.loads((cluster.root / "config.json").read_text())["contexts"][0]["token"]
        self.refused("only-1", (server, own, fingerprint), "not known here")
        done = cluster.hai("init", secret, "--url", f"https://{server}", "--ca",
                           cluster.ca / "ca.crt", "--name", "thief")  # fmt: skip
        self.assertNotEqual(done.code, 0)

    def test_a_server_that_cannot_be_checked_is_not_spoken_to(self):
        cluster = self.cluster
        server, secret, fingerprint = cluster.token("check-1")
        self.refused("check-1", (server, secret, "sha256:" + "0" * 64), "shows no CA with that")
        self.refused("check-1", (server, secret, "sha256:1234"), "must be the 64 hexadecimal digits", code=2)
        port = server.rsplit(":", 1)[1]
        named = (f"localhost.localdomain:{port}", secret, fingerprint)
        cluster.write_config("check-1")
        config = cluster.config("check-1")
        config.write_text(config.read_text().replace(server, named[0]))
        self.assertNotEqual(cluster.join("check-1", named).returncode, 0)
        cluster.write_config("check-1")
        blind = cluster.agent("join", server, "--token", secret, "--config", cluster.config("check-1"))
        self.assertEqual(blind.returncode, 2, blind.stderr)
        other = cluster.root / "other-ca"
        if not other.exists():
            cluster.authority("init", other)
        foreign = cluster.agent("join", server, "--token", secret, "--ca", other / "ca.crt",
                                "--config", cluster.config("check-1"))  # fmt: skip
        self.assertIn("is of a CA that is not believed here", foreign.stderr)
        # The token was shown to nobody.
        token = next(t for t in cluster.json("node", "token", "list") if t["nodes"] == "check-1")
        self.assertEqual(token["uses_left"], 1)

    @unittest.skipIf(LIBRARY is None, "needs libfaketime (deploy/packages-tests.txt)")
    def test_a_machine_whose_clock_is_wrong_keeps_its_token(self):
        cluster = self.cluster
        words = cluster.token("clock-1")
        clock = {"LD_PRELOAD": str(LIBRARY), "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        for offset, sentence in (
            ("+10800", "this machine's clock is 3h ahead of that of"),
            ("-2700", "this machine's clock is 45m behind that of"),
            ("-36000", "begins on .*: is this machine's clock right"),  # before its CA was made
            ("+400000000", "has expired on .* unless it is this machine's clock that is wrong"),
        ):
            with self.subTest(offset=offset):
                cluster.write_config("clock-1")
                done = cluster.join("clock-1", words, more_environment={**clock, "FAKETIME": offset})
                self.assertEqual((done.returncode, done.stdout), (1, ""), done)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertRegex(done.stderr, sentence)
                self.assertEqual([path.name for path in cluster.folder("clock-1").iterdir()], ["agent.yaml"])
        self.assertEqual(cluster.join("clock-1", words).returncode, 0)

    def test_what_is_asked_of_a_token_is_bounded(self):
        for words, sentence in (
            (["node-[1-30000]"], "20000"),
            (["node 1"], "nodes"),
            ([""], "nodes"),
            (["n1", "--ttl", "31d"], "ttl"),
            (["n1", "--ttl", "soon"], "ttl"),
        ):
            done = self.cluster.hai("node", "token", "create", *words)
            self.assertEqual(done.code, 4, done)
            self.assertIn(sentence, done.err)
            self.assertEqual(len(done.err.splitlines()), 1, done.err)

    def test_a_revoked_node_is_shut_out_within_a_second(self):
        cluster = self.cluster
        cluster.join_and_start("lost-1")
        self.addCleanup(cluster.end_agent, "lost-1")
        job = cluster.exec("sleep 1000", "-n", "1")
        cluster.wait_running(job)
        log = cluster.servers[0].log
        ended = lambda: log.read_text().count('agent_disconnected node=lost-1')  # noqa: E731
        before = ended()
        cluster.ok("node", "revoke", "lost-1", "--reason", "stolen")
        began = time.monotonic()
        eventually("its stream has ended", lambda: ended() > before, 5)
        self.assertLess(time.monotonic() - began, 1)
        eventually(
            "it is told why",
            lambda: "the identity of lost-1 was revoked at" in cluster.log_of("lost-1"),
        )
        # It is a silent node: its ranks stay its own until it is proven that they are gone.
        eventually("it is silent", lambda: cluster.node("lost-1")["liveness"] != "up", 60)
        self.assertEqual(cluster.job(job)["attempt"], 1)
        self.assertEqual(cluster.job(job)["state"], "running")
        self.assertIsNotNone(cluster.identity("lost-1")["revoked_at"])
        # With a certificate that was issued afterwards it is back, without a new agent.
        done = cluster.join("lost-1", cluster.token("lost-1"))
        self.assertEqual(done.returncode, 0, done.stderr)
        cluster.wait_node("lost-1", seconds=60)
        cluster.ok("stop", job)

    def test_only_admins_let_machines_join(self):
        cluster = self.cluster
        cluster.ok("user", "set", "ann", "--role", "operator")
        secret = cluster.ok("token", "create", "--user", "ann").strip()
        path = cluster.root / "config.json"
        before = path.read_text()
        self.addCleanup(path.write_text, before)
        config = json.loads(before)
        config["contexts"][0]["token"] = secret
        path.write_text(json.dumps(config))
        for words in (["token", "create", "n1"], ["token", "list"], ["token", "revoke", "x"],
                      ["revoke", "node-1"]):  # fmt: skip
            self.assertEqual(cluster.hai("node", *words).code, 4, words)
        self.assertEqual(cluster.hai("node", "identities").code, 0)


class Lines:
    """What has come of a stream so far, read beside the test."""

    def __init__(self, stream):
        self.ended = False
        self.lines = []
        threading.Thread(target=self.read, args=(stream,), daemon=True).start()

    def read(self, stream):
        try:
            for line in stream:
                self.lines.append(line)
        except (OSError, ValueError):
            pass
        self.ended = True

    def count(self, begin):
        return sum(line.startswith(begin) for line in list(self.lines))


class RenewalTest(unittest.TestCase):
    def setUp(self):
        self.cluster = JoinServers(life="15s")
        self.addCleanup(self.cluster.close)
        self.cluster.up()
        self.cluster.join_and_start("node-1")

    def authority_of(self, path):
        """The key id of the CA that has issued it."""
        done = subprocess.run(
            ["openssl", "x509", "-in", str(path), "-noout", "-ext", "authorityKeyIdentifier"],
            capture_output=True, text=True, timeout=20,
        )  # fmt: skip
        return done.stdout

    def test_a_certificate_of_some_seconds_is_renewed_and_no_stream_is_lost(self):
        cluster = self.cluster
        pair = cluster.folder("node-1") / "node.pem"
        first = pair.read_text()
        job = cluster.exec("sleep 1000", "-n", "1")
        cluster.wait_running(job)
        eventually("it was renewed", lambda: cluster.count("node-1", "certificate_renewed") == 2, 40)
        now = pair.read_text()
        self.assertNotEqual(first.split("-----END PRIVATE KEY-----")[0],
                            now.split("-----END PRIVATE KEY-----")[0], "a new key, too")  # fmt: skip
        self.assertEqual(pair.stat().st_mode & 0o777, 0o600)
        self.assertEqual(cluster.count("node-1", "server_connected"), 1)
        self.assertEqual((cluster.job(job)["state"], cluster.job(job)["attempt"]), ("running", 1))
        self.assertIn("certificate_renewed", cluster.log_of("node-1"))

    def events(self):
        """The stream of events, over a connection of HTTPS that is made once."""
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.cluster.servers[0].http, timeout=90, context=self.cluster.browser()
        )
        self.addCleanup(connection.close)
        connection.request("GET", "/api/v1/events?after=0", headers={"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        return answer

    def connections(self, process):
        """Its sockets of TCP that are connected: one that was lost and made again is another one."""
        inodes = {os.readlink(fd) for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()}
        rows = [row.split() for name in ("tcp", "tcp6")
                for row in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]]  # fmt: skip
        return {row[9] for row in rows if row[3] == "01" and f"socket:[{row[9]}]" in inodes}

    def test_the_ca_is_changed_under_a_connected_agent_and_people(self):
        cluster = self.cluster
        job = cluster.exec("while sleep 0.2; do date +%s; done", "-n", "1")
        cluster.wait_running(job)
        follower = cluster.start_hai("logs", "-f", job)
        lines = Lines(follower.stdout)
        events = Lines(self.events())
        eventually("log and events are followed", lambda: lines.count("") and events.count(b"data:"))
        followed = self.connections(follower)
        self.assertTrue(followed)
        folder = cluster.folder("node-1")
        before = self.authority_of(folder / "node.pem")
        cluster.authority("rotate", cluster.ca)
        believed = folder / "node-ca.crt"
        eventually("it believes both",
                   lambda: believed.read_text().count("BEGIN CERTIFICATE") == 2, 40)  # fmt: skip
        eventually("its own is of the new one",
                   lambda: self.authority_of(folder / "node.pem") != before, 40)  # fmt: skip
        said = cluster.authority("retire", cluster.ca, "--nodes-have-renewed", code=1)
        self.assertIn("server-localhost.crt is of the old CA and in force", said)
        for kind in ("crt", "key"):
            (cluster.ca / f"server-localhost.{kind}").rename(cluster.root / f"old.{kind}")
        cluster.authority("issue", cluster.ca, "--server", "localhost,127.0.0.1")
        cluster.install(cluster.ca / "server-localhost")
        cluster.context(cluster.ca / "ca.crt")
        eventually("the new one is shown", lambda: cluster.hai("nodes").code == 0)
        renewed = cluster.count("node-1", "certificate_renewed")
        self.assertIn("would be shut out", cluster.authority("retire", cluster.ca, code=1))
        cluster.authority("retire", cluster.ca, "--nodes-have-renewed")
        cluster.context(cluster.ca / "ca.crt")
        eventually("only the new CA is believed", lambda: cluster.hai("nodes").code == 0)
        eventually("by the agent, too",
                   lambda: believed.read_text().count("BEGIN CERTIFICATE") == 1
                   and cluster.count("node-1", "certificate_renewed") > renewed, 40)  # fmt: skip
        self.assertEqual(cluster.count("node-1", "server_connected"), 1, "no connection was lost")
        self.assertEqual((cluster.job(job)["state"], cluster.job(job)["attempt"]), ("running", 1))
        # Nor one of people, whom nobody has told of the new CA: what comes now comes by the old ones.
        had = lines.count(""), events.count(b"data:")
        cluster.exec("true", "-n", "1")
        eventually("the log goes on", lambda: lines.count("") > had[0])
        eventually("the events go on", lambda: events.count(b"data:") > had[1])
        self.assertEqual(self.connections(follower), followed)
        self.assertFalse(lines.ended or events.ended)
        # A new connection goes by the new CA on both sides.
        cluster.end_agent("node-1")
        cluster.start_joined("node-1")
        eventually("it is back", lambda: cluster.count("node-1", "server_connected") == 2, 40)


if __name__ == "__main__":
    unittest.main()
