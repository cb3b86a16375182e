"""--check-config of both programs says what is wrong before a start would find out, and what it
names and is not there."""

import os
import subprocess
import unittest

from cluster import ClusterTest, programs


class CheckConfigTest(ClusterTest):
    up_options = ("--insecure",)  # what is said of a config without TLS is looked at, too
    shape = {"name": "check", "nodes": 1}

    def check(self, program, config):
        done = subprocess.run(
            [str(programs() / program), "--check-config", "--config", str(config)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stderr

    def changed(self, config, old, new):
        text = config.read_text()
        self.assertIn(old, text)
        path = self.cluster.root / config.name
        path.write_text(text.replace(old, new, 1))
        return path

    def test_of_the_server(self):
        good = self.cluster.data / "server.yaml"
        self.assertEqual(self.check("hai-server", good), (0, ""))
        code, said = self.check(
            "hai-server", self.changed(good, "agent_token_file: ", "agent_token_file: /nowhere/")
        )
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\A\S+: agent_token_file: cannot read token file /nowhere/\S+: No such")
        # The first administrator deletes his, and the server starts all the same.
        code, said = self.check(
            "hai-server", self.changed(good, "admin_token_file: ", "admin_token_file: /nowhere/")
        )
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"\A\S+: warning: bootstrap.admin_token_file: there is no /nowhere/")
        code, said = self.check(
            "hai-server", self.changed(good, "admin_token_file: ", "admin_token_file: /dev/null #")
        )
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\A\S+: bootstrap.admin_token_file: token file /dev/null: the first line has 0")
        code, said = self.check(
            "hai-server", self.changed(good, "conninfo: ", "conninfo: dbname=absent host=/nowhere #")
        )
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\A\S+: store.conninfo: postgres: ")
        # Whoever stands between could answer in plain text.
        code, said = self.check(
            "hai-server", self.changed(good, "conninfo: ", "conninfo: dbname=absent host=192.0.2.1 #")
        )
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\A\S+: warning: store.conninfo: [^\n]* no sslmode is set: [^\n]*sslmode=require\n")
        code, said = self.check(
            "hai-server", self.changed(good, "cluster: ", "web_root: /nowhere\ncluster: ")
        )
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\A\S+: web_root: [^\n]*/nowhere")

        code, said = self.check(
            "hai-server", self.changed(good, "cluster: ", "unix_groups: {groups: [no-such-group]}\ncluster: ")
        )
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\A\S+: unix_groups: [^\n]*getent group no-such-group")

    def test_of_tls(self):
        good = self.cluster.data / "server.yaml"
        reached = self.changed(good, "  grpc: 127.0.0.1:", "  grpc: 0.0.0.0:")
        code, said = self.check("hai-server", reached)
        self.assertEqual(code, 2)
        self.assertIn("tls: is missing, and other machines reach these ports", said)
        code, said = self.check("hai-server", self.changed(reached, "cluster: ", "plain_text: true\ncluster: "))
        self.assertEqual(code, 0)
        self.assertRegex(said, r"\A\S+: warning: without tls.certificate, tokens and jobs can be")
        config = self.changed(good, "cluster: ", "tls: {certificate: /no, key: /no}\ncluster: ")
        code, said = self.check("hai-server", config)
        self.assertEqual(code, 1)
        self.assertRegex(said, r"\A\S+: tls: cannot read /no: No such file")

    def test_of_an_agent(self):
        good = next(self.cluster.data.glob("**/node-1/**/agent.yaml"), None)
        good = good or next(self.cluster.data.glob("**/node-1*.yaml"))
        self.assertEqual(self.check("hai-agent", good), (0, ""))
        code, said = self.check("hai-agent", self.changed(good, 'name: "node-1"', 'name: "node 1"'))
        self.assertEqual(code, 2)
        self.assertIn("name: must be 1 to 255 letters, digits and . _ -, is 'node 1'", said)

    def test_of_how_an_agent_isolates(self):
        config = self.cluster.data / "nodes" / "node-1" / "agent.yaml"
        words = [str(programs() / "hai-agent"), "--check-config", "--config", str(config)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.splitlines()[:2], [f"{config}: ok", "isolation: shared"])
        if os.geteuid() != 0:
            self.assertIn("isolation: hai-agent is not root: ranks run as its own user", done.stdout)
        code, said = self.check("hai-agent", self.changed(config, "isolation: shared", "isolation: lax"))
        self.assertEqual(code, 2)
        self.assertIn("isolation: must be strict, shared or none, is lax", said)

    def test_a_token_that_others_can_read_is_none(self):
        good = self.cluster.data / "server.yaml"
        token = self.cluster.root / "open.token"
        token.write_text("0123456789abcdef\n")
        token.chmod(0o644)
        config = self.changed(good, "agent_token_file: ", f"agent_token_file: {token} #")
        code, said = self.check("hai-server", config)
        self.assertEqual(code, 1)
        self.assertIn(f"token file {token}: mode 0644 lets others at it", said)
        token.chmod(0o640)
        self.assertEqual(self.check("hai-server", config), (0, ""))


if __name__ == "__main__":
    unittest.main()
