"""`hai doctor`, and the doctors of hai-server and hai-agent that it asks: each thing that may be wrong of
a setup, provoked, and what is said of it."""

import json
import os
import ssl
import unittest
import urllib.error
import urllib.request

from bare_site import USER, Site
from clock_step_test import LIBRARY
from cluster import eventually


@unittest.skipUnless(os.geteuid() == 0, "sets a server up for another user: needs root")
class OfASite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = Site()
        cls.addClassCleanup(cls.site.close)
        cls.site.set_up()

    def examine(self, *words, program="hai-server"):
        done = self.site.program(program, *words, "-o", "json")
        findings = json.loads(done.stdout)
        failed = any(each["verdict"] == "fail" for each in findings)
        self.assertEqual(done.returncode, 1 if failed else 0, done.stdout + done.stderr)
        for each in findings:
            self.assertEqual(each["remedy"] == "", each["verdict"] == "ok", each)
        return findings

    def server_with(self, old, new):
        """The findings on a config in which one thing is another."""
        text = self.site.config().read_text()
        self.assertIn(old, text)
        config = self.site.folder() / "changed.yaml"
        config.write_text(text.replace(old, new, 1))
        return self.examine("--config", config, "doctor", "--user", USER)

    def found(self, findings, check, verdict, text):
        texts = [each["found"] for each in findings
                 if (each["check"], each["verdict"]) == (check, verdict)]  # fmt: skip
        self.assertTrue(any(text in each for each in texts), (check, verdict, text, findings))


class ForeignDatabaseTest(OfASite):
    def test_it_is_taken_for_ones_own_by_nobody(self):
        site = self.site
        file = site.folder() / "cluster.id"
        own = file.read_text()
        file.write_text("f" * 32 + "\n")
        findings = self.examine("--config", site.config(), "doctor", "--user", USER)
        self.found(findings, "database", "fail", "this is the database of another cluster, fire (id ")
        server = site.start_server()
        log = site.root / "hai-server-0.log"
        eventually("it says so", lambda: "bring that cluster's /etc/hai here, too" in log.read_text(), 60)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            context = ssl.create_default_context(cafile=site.folder() / "ca/ca.crt")
            urllib.request.urlopen(f"https://{site.address('http')}/readyz", context=context, timeout=30)
        self.assertIn("the database of another cluster", refused.exception.read().decode())
        server.terminate()
        server.wait(60)
        self.assertNotIn("mode=leading", log.read_text())
        # What is no id does not pass for none.
        file.write_text("nonsense\n")
        findings = self.examine("--config", site.config(), "doctor", "--user", USER)
        self.found(findings, "database", "fail", "must be 32 hexadecimal digits")
        self.assertNotEqual(site.start_server().wait(60), 0)
        self.assertIn("must be 32 hexadecimal digits", (site.root / "hai-server-1.log").read_text())
        file.write_text(own)
        site.start_server()
        site.admit()


class DoctorTest(OfASite):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.site.start_server()
        cls.site.admit()

    def test_a_server_that_is_well(self):
        site = self.site
        findings = self.examine("--config", site.config(), "doctor", "--user", USER)
        self.assertEqual([each for each in findings if each["verdict"] == "fail"], [])
        for check, text in (
            ("version", "hai-server "), ("files", "is there"), ("certificate", "holds until"),
            ("database", "PostgreSQL"), ("database", "schema"), ("database", "writable"),
            ("port", f"{site.address()} answers"), ("port", f"{site.address('http')} answers"),
            ("database", "as that of the database"),
        ):  # fmt: skip
            self.found(findings, check, "ok", text)
        self.found(findings, "database", "warn", "has no replica")
        self.assertEqual({each["part"] for each in findings}, {"server"})

    def test_each_fault_of_a_server(self):
        site = self.site
        folder = str(site.folder())
        findings = self.server_with("localhost:", "elsewhere.invalid:")
        self.found(findings, "certificate", "fail", "is for localhost, 127.0.0.1, not for elsewhere")
        remedies = [each["remedy"] for each in findings if each["check"] == "certificate"]
        self.assertIn("--names elsewhere.invalid,localhost,127.0.0.1`", remedies[0])
        self.found(findings, "port", "fail", "elsewhere.invalid:")
        findings = self.server_with(f"{folder}/secrets.key", "/nowhere/secrets.key")
        self.found(findings, "files", "fail", "secrets: cannot read")
        findings = self.server_with(f"host={site.database.data}", "host=/nowhere")
        self.found(findings, "database", "fail", "postgres: ")
        findings = self.server_with("dbname=hai", "dbname=hai password=geheim")
        self.found(findings, "database", "ok", "password=***")
        self.assertNotIn("geheim", str(findings))
        findings = self.server_with("client_ca: ", "client_ca: /nowhere #")
        self.found(findings, "certificate", "fail", "cannot read /nowhere")
        sql = site.database.sql
        sql("ALTER DATABASE hai SET default_transaction_read_only = on")
        self.addCleanup(sql, "ALTER DATABASE hai RESET default_transaction_read_only")
        findings = self.examine("--config", site.config(), "doctor", "--user", USER)
        self.found(findings, "database", "fail", "takes no changes")

    def test_a_database_of_another_version(self):
        site = self.site
        site.database.sql("CREATE DATABASE empty")
        findings = self.server_with("dbname=hai", "dbname=empty")
        self.found(findings, "database", "fail", "schema 0, this program has")

    def test_no_config_and_one_that_is_none(self):
        findings = self.examine("--config", "/nowhere.yaml", "doctor")
        self.assertEqual([each["check"] for each in findings], ["config"])
        config = self.site.root / "broken.yaml"
        config.write_text("cluster: [\n")
        self.assertEqual(self.examine("--config", config, "doctor")[0]["verdict"], "fail")
        findings = self.examine("--config", config, "doctor", program="hai-agent")
        self.assertEqual((findings[0]["part"], findings[0]["verdict"]), ("agent", "fail"))

    def agent_config(self, name, more=""):
        folder = self.site.root / name
        folder.mkdir(exist_ok=True)
        config = folder / "agent.yaml"
        ca = self.site.folder() / "ca/ca.crt"
        config.write_text(
            f'name: {name}\ndata_dir: "{folder}"\nservers: ["{self.site.address()}"]\n'
            f'tls: {{ca: "{ca}", certificate: "{folder}/{name}.crt", key: "{folder}/{name}.key"}}\n{more}'
        )
        self.site.program("hai-server", "ca", "issue", self.site.folder() / "ca", "--node", name,
                          "--out", folder)  # fmt: skip
        return config

    def of_agent(self, config):
        return self.examine("--config", config, "doctor", program="hai-agent")

    def test_each_fault_of_a_node(self):
        site = self.site
        config = self.agent_config("well")
        findings = self.of_agent(config)
        self.found(findings, "server", "ok", f"{site.address()} answers")
        self.found(findings, "certificate", "ok", "well.crt holds until")
        self.assertEqual([each for each in findings if each["check"] == "files"][0]["verdict"], "ok")
        self.found(findings, "clock", "ok", f"as that of the server {site.address()}")
        for check in ("cgroup", "gpu", "health", "disk", "clock", "account"):
            self.assertTrue([each for each in findings if each["check"] == check], (check, findings))
        text = config.read_text()
        for old, new, check, verdict, said in (
            (site.address(), "localhost:1", "server", "fail", "localhost:1"),
            ("name: well", "name: other", "certificate", "fail", "is that of well, and this node is other"),
            ("well.key", "gone.key", "files", "fail", "gone.key"),
            ("name: well", "name: well\nsimulate_gpus: 8", "gpu", "warn", "8 GPUs are simulated"),
            ("name: well", "name: well\nhealth: {expect: {gpus: 64}}", "gpu", "fail", "of 64"),
            ("name: well", "name: well\nhealth: {mounts: [/not/mounted]}", "health", "fail", "/not/mounted"),
            ("name: well", "name: well\nshim: /nowhere", "files", "fail", "no program /nowhere"),
        ):  # fmt: skip
            with self.subTest(new=new):
                changed = config.with_name("changed.yaml")
                changed.write_text(text.replace(old, new, 1))
                self.found(self.of_agent(changed), check, verdict, said)
        # A server that shows a certificate of a CA that is not believed here.
        foreign = site.root / "foreign"
        site.program("hai-server", "ca", "init", foreign)
        changed.write_text(text.replace(str(site.folder() / "ca/ca.crt"), str(foreign / "ca.crt"), 1))
        self.found(self.of_agent(changed), "server", "fail", "not believed here")

    def test_hai_doctor_shows_all_parts(self):
        site = self.site
        config = self.agent_config("all")
        words = ["doctor", "--server-config", site.config(), "--agent-config", config]
        findings = json.loads(site.hai(*words, "-o", "json").out)
        self.assertEqual({each["part"] for each in findings}, {"server", "agent", "client"})
        self.found(findings, "server", "ok", "fire knows you as admin (admin)")
        self.found(findings, "account", "warn", "have no account on this node, admin for one")
        done = site.hai(*words)
        self.found(findings, "clock", "ok", "as that of the server")
        self.assertIn("ok    client  server        fire knows you as admin (admin)\n", done.out)
        lines = site.hai("doctor", "--server-config", "/no", "--agent-config", "/no", "-o", "jsonl").out
        self.assertEqual({json.loads(line)["part"] for line in lines.splitlines()}, {"client"})

    @unittest.skipUnless(LIBRARY, "Debian's libfaketime is not installed")
    def test_a_clock_that_is_not_the_servers(self):
        site = self.site
        config = self.agent_config("late")
        remedy = "let a time service (chrony) keep the clocks of both machines"
        for seconds, verdict, text in (
            (-120, "fail", "s behind that of the server"),
            (+8, "warn", "s ahead of that of the server"),
        ):
            env = {"LD_PRELOAD": str(LIBRARY), "FAKETIME": f"{seconds:+d}s",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1"}  # fmt: skip
            node = site.program("hai-agent", "--config", config, "doctor", "-o", "json", env=env)
            login = site.hai("doctor", "--server-config", "/no", "--agent-config", "/no", "-o", "json",
                             env=env)  # fmt: skip
            for findings in (json.loads(node.stdout), login.json()):
                clocks = [each for each in findings if each["check"] == "clock" and text in each["found"]]
                self.assertEqual([(each["verdict"], each["remedy"]) for each in clocks],
                                 [(verdict, remedy)], findings)  # fmt: skip
            self.assertEqual((node.returncode, login.code) == (1, 1), verdict == "fail")

    def test_hai_doctor_where_nothing_is_set_up(self):
        done = self.site.hai("doctor", "--server-config", "/no", "--agent-config", "/no", "-o", "json",
                             env={"HAI_CONFIG": self.site.root / "none.json"})  # fmt: skip
        self.assertEqual(done.code, 0, done)
        findings = done.json()
        self.found(findings, "context", "warn", "")
        self.assertTrue([each for each in findings if each["check"] == "clock"])

    def test_a_token_that_is_not_taken(self):
        site = self.site
        text = (site.root / "config.json").read_text()
        token = json.loads(text)["contexts"][0]["token"]
        other = site.root / "other.json"
        other.write_text(text.replace(token, "hai_" + "0" * 64))
        other.chmod(0o600)
        done = site.hai("doctor", "--server-config", "/no", "--agent-config", "/no", "-o", "json",
                        env={"HAI_CONFIG": other})  # fmt: skip
        self.assertEqual(done.code, 1, done)
        refused = [each for each in done.json() if each["check"] == "server"]
        self.assertIn("`hai token create`", refused[0]["remedy"])
        port = site.address()
        other.write_text(text.replace(port, "localhost:1"))
        done = site.hai("doctor", "--server-config", "/no", "--agent-config", "/no", "-o", "json",
                        env={"HAI_CONFIG": other})  # fmt: skip
        self.found(done.json(), "server", "fail", "localhost:1")


if __name__ == "__main__":
    unittest.main()
