"""TLS on both ports, with certificates that `hai-server ca` has issued: who believes whom, what an
agent may say under its certificate, and certificates that are replaced while all goes on.
"""

import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
import threading
import unittest
import urllib.request
import xml.etree.ElementTree

from cluster import eventually, programs
from servers import TOKEN, Servers, ServersTest


class TlsServers(Servers):
    """Servers and their agents over TLS; the folder `ca` has the authority and what it issued."""

    def __init__(self, count=1, nodes=2, **options):
        super().__init__(count=count, nodes=nodes, **options)
        self.ca = self.root / "ca"
        self.authority("init", self.ca)
        self.authority("issue", self.ca, "--server", "localhost,127.0.0.1")
        for number in range(1, nodes + 1):
            self.authority("issue", self.ca, "--node", f"node-{number}")
        # What the server reads: copies, so that they can be replaced.
        self.certificate, self.key = self.root / "tls.crt", self.root / "tls.key"
        self.install(self.ca / "server-localhost")
        self.context(self.ca / "ca.crt")

    def authority(self, *words, code=0):
        done = subprocess.run(
            [str(programs() / "hai-server"), "ca", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=30,
            env=self.environment(),
        )
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def install(self, pair):
        """Replaces the server's files as an administrator does: written beside them, then renamed."""
        for kind, path in ((".key", self.key), (".crt", self.certificate)):
            fresh = path.with_suffix(".new")
            shutil.copy(f"{pair}{kind}", fresh)
            fresh.rename(path)

    def context(self, ca, host="127.0.0.1"):
        """How `hai` finds the server; without a CA in plain text."""
        context = {
            "name": "servers",
            "servers": [f"{host}:{self.servers[0].grpc}"],
            "token": TOKEN,
        }
        if ca:
            context["ca"] = ca.read_text()
        path = self.root / "config.json"
        path.write_text(json.dumps({"current": "servers", "contexts": [context]}))
        path.chmod(0o600)

    def server_config(self, server):
        return (
            super().server_config(server)
            + f'tls: {{certificate: "{self.certificate}", key: "{self.key}",'
            + f' client_ca: "{self.ca}/ca.crt"}}\n'
        )

    def start_agent(self, name, certificate=None, ca=None):
        """`certificate`: whose it shows, "" = none."""
        shown = self.ca / (name if certificate is None else certificate)
        own = f'certificate: "{shown}.crt", key: "{shown}.key"' if certificate != "" else ""
        self.agent_options = f'tls: {{ca: "{ca or self.ca / "ca.crt"}", {own}}}\n'
        super().start_agent(name)

    def end_agent(self, name):
        self.agents[name].kill()
        self.agents.pop(name).wait()

    def log_of(self, name):
        return (self.root / f"{name}.log").read_text()

    def browser(self):
        return ssl.create_default_context(cafile=self.ca / "ca.crt")

    def leader(self):
        return next((server for server in self.servers if self.is_ready(server)), None)

    def is_ready(self, server):
        try:
            url = f"https://127.0.0.1:{server.http}/readyz"
            with urllib.request.urlopen(url, timeout=3, context=self.browser()) as answer:
                return answer.status == 200
        except OSError:
            return False

    def nodes_up(self):
        nodes = self.json("nodes")
        return sum(node["liveness"] == "up" for node in nodes)


class TlsTest(ServersTest):
    make = TlsServers

    def setUp(self):
        self.cluster.install(self.cluster.ca / "server-localhost")
        self.cluster.context(self.cluster.ca / "ca.crt")
        # The test before may have left another one, and gRPC looks once a second.
        eventually("the right one is shown", lambda: self.cluster.hai("nodes").code == 0)

    @property
    def grpc(self):
        return self.cluster.servers[0].grpc

    @property
    def http(self):
        return self.cluster.servers[0].http

    def s_client(self, port, *options, protocol="-tls1_3"):
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", protocol, "-CAfile",
             str(self.cluster.ca / "ca.crt"), "-verify_ip", "127.0.0.1", *options],
            input="", capture_output=True, text=True, errors="replace", timeout=20,
        )  # fmt: skip
        return done.stdout + done.stderr

    def refusal(self, code=5):
        """What `hai` says in one line."""
        result = self.cluster.hai("nodes")
        self.assertEqual(result.code, code, result)
        self.assertEqual(result.out, "")
        self.assertEqual(len(result.err.splitlines()), 1, result.err)
        return result.err

    def refusal_that_comes(self):
        """The same, once the server has seen its new files."""
        eventually("the new file is shown", lambda: self.cluster.hai("nodes").code)
        return self.refusal()

    def other_authority(self):
        folder = self.cluster.root / "other"
        if not folder.exists():
            self.cluster.authority("init", folder)
            self.cluster.authority("issue", folder, "--server", "127.0.0.1")
            self.cluster.authority("issue", folder, "--node", "node-1")
        return folder

    def dated(self, name, begins, ends):
        """A pair for this server of its CA, in force between these years."""
        pair = self.cluster.root / name
        if pair.with_suffix(".crt").exists():
            return pair
        old = self.cluster.ca / "server-localhost"
        shutil.copy(f"{old}.key", f"{pair}.key")
        ca = self.cluster.ca
        (self.cluster.root / "ca.cnf").write_text(
            f"[ca]\ndefault_ca=it\n[it]\ndatabase={self.cluster.root}/index\nserial="
            f"{self.cluster.root}/serial\nnew_certs_dir={self.cluster.root}\ndefault_md=sha256\n"
            "policy=any\nx509_extensions=leaf\n[any]\ncommonName=supplied\n"
            "[leaf]\nsubjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n"
        )
        (self.cluster.root / "index").write_text("")
        (self.cluster.root / "serial").write_text("77\n")
        request = self.cluster.root / f"{name}.csr"
        for words in (
            ["req", "-new", "-key", f"{pair}.key", "-subj", "/CN=old", "-out", str(request)],
            ["ca", "-batch", "-config", str(self.cluster.root / "ca.cnf"), "-notext",
             "-cert", str(ca / "ca.crt"), "-keyfile", str(ca / "ca.key"), "-in", str(request),
             "-out", f"{pair}.crt", "-startdate", f"{begins}0101000000Z", "-enddate", f"{ends}0101000000Z"],
        ):  # fmt: skip
            done = subprocess.run(["openssl", *words], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 0, done.stderr)
        return pair

    def test_everything_works_as_without(self):
        job = self.cluster.exec("echo over TLS", "-n", "2")
        self.cluster.wait_end(job)
        self.assertEqual(self.cluster.log(job).strip(), "over TLS")
        curl = ["curl", "-sS", "--cacert", self.cluster.ca / "ca.crt"]
        for host in ("localhost", "127.0.0.1"):
            done = subprocess.run(
                [*map(str, curl), "-H", f"Authorization: Bearer {TOKEN}",
                 f"https://{host}:{self.http}/api/v1/jobs/{job}"],
                capture_output=True, text=True, timeout=20,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["state"], "succeeded")
        verify = self.verify(f"https://127.0.0.1:{self.http}")
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)

    def verify(self, live, *options):
        return subprocess.run(
            [str(programs() / "hai-server"), "verify", "-q", "--config",
             str(self.cluster.servers[0].config), "--live", live, *map(str, options)],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def test_a_config_with_tls_means_tls_so_that_no_token_is_sent_in_plain_text(self):
        verify = self.verify(f"127.0.0.1:{self.http}")
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)
        heard = []

        def listen(listener):
            with listener.accept()[0] as connection:
                heard.append(connection.recv(65536))

        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(30)
            thread = threading.Thread(target=listen, args=(listener,))
            thread.start()
            verify = self.verify(f"127.0.0.1:{listener.getsockname()[1]}")
            thread.join()
        self.assertEqual(verify.returncode, 1, verify)
        self.assertEqual(heard[0][:1], b"\x16", "a TLS handshake")
        self.assertNotIn(TOKEN.encode(), heard[0])

    def test_a_ca_means_tls_so_that_no_token_is_sent_in_plain_text(self):
        ca = self.cluster.ca / "ca.crt"
        verify = self.verify(f"127.0.0.1:{self.http}", "--ca", ca)
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            listener.settimeout(0.1)
            verify = self.verify(f"http://127.0.0.1:{port}", "--ca", ca)
            self.assertNotEqual(verify.returncode, 0)
            self.assertIn("a CA is for https://", verify.stderr)
            self.assertRaises(TimeoutError, listener.accept)

    def test_systemd_starts_a_server_again_whose_certificate_is_not_good_yet(self):
        """Which it does after exit code 1, and not after 2."""
        good, config = self.cluster.servers[0].config.read_text(), self.cluster.root / "other.yaml"
        later, own = self.dated("later", 2040, 2041), self.cluster.ca / "server-localhost"
        for certificate, key, code, said in (
            (f"{later}.crt", f"{later}.key", 1, "is this machine's clock right?"),
            (f"{own}.crt", self.cluster.ca / "node-1.key", 1, "is not the key of"),
            ("/nowhere", f"{own}.key", 2, "cannot read /nowhere"),
        ):
            text = good.replace(str(self.cluster.certificate), str(certificate))
            config.write_text(text.replace(str(self.cluster.key), str(key)))
            done = subprocess.run(
                [str(programs() / "hai-server"), "--config", str(config)],
                capture_output=True, text=True, timeout=60, env=self.cluster.environment(),
            )  # fmt: skip
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)

    def test_metrics_say_how_long_the_certificates_hold(self):
        url = f"https://127.0.0.1:{self.http}/metrics"
        with urllib.request.urlopen(url, timeout=20, context=self.cluster.browser()) as answer:
            text = answer.read().decode()
        for of, days in (("server", 365), ("ca", 3653)):
            left = re.search(rf'hai_certificate_seconds_left{{of="{of}"}} (\S+)', text)
            self.assertAlmostEqual(float(left[1]) / 86400, days, delta=1)

    def test_people_join_with_the_ca(self):
        url = f"https://127.0.0.1:{self.grpc}"
        (self.cluster.root / "config.json").unlink()
        ca = self.cluster.ca / "ca.crt"
        self.cluster.ok("init", TOKEN, "--url", url, "--ca", ca)
        self.assertEqual(len(self.cluster.json("nodes")), 2)
        self.assertIn("by the CA that was given", self.cluster.ok("context", "show"))
        # This machine's own CAs have nothing to do with it.
        result = self.cluster.hai("init", TOKEN, "--url", url, "--name", "other")
        self.assertIn("CA that is not believed here", result.err)
        self.assertEqual(self.cluster.hai("init", TOKEN, "--url", url, "--ca", "/nowhere").code, 2)

    def test_only_tls_13_is_spoken(self):
        for port, options in ((self.grpc, ["-alpn", "h2"]), (self.http, [])):
            said = self.s_client(port, *options)
            self.assertIn("Verification: OK", said)
            self.assertIn("New, TLSv1.3", said)
            # TLS 1.1 is not asked for: OpenSSL would refuse it by itself.
            said = self.s_client(port, *options, protocol="-tls1_2")
            self.assertIn("Cipher is (NONE)", said, port)
        # And no plain text.
        done = subprocess.run(
            ["curl", "-sS", f"http://127.0.0.1:{self.http}/livez"], capture_output=True, timeout=20
        )
        self.assertNotEqual(done.returncode, 0)

    def test_a_scanner_finds_nothing_else(self):
        """By a program that nobody here wrote."""
        for port in (self.grpc, self.http):
            found = self.scan(port)
            protocols = list(found.iter("protocol"))
            enabled = [each.get("version") for each in protocols if each.get("enabled") == "1"]
            self.assertEqual(enabled, ["1.3"], port)
            self.assertEqual(len(protocols), 6, "SSL 2 to TLS 1.3")
            self.assertEqual({each.get("supported") for each in found.iter("renegotiation")}, {"0"})
            self.assertNotIn("1", {each.get("supported") for each in found.iter("compression")})
            self.assertNotIn("1", {each.get("vulnerable") for each in found.iter("heartbleed")})
            ciphers = list(found.iter("cipher"))
            self.assertTrue(ciphers, port)
            for cipher in ciphers:
                self.assertEqual(cipher.get("sslversion"), "TLSv1.3", port)
                self.assertGreaterEqual(int(cipher.get("bits")), 128, port)
                self.assertIn(cipher.get("strength"), ("acceptable", "strong"), cipher.attrib)

    def scan(self, port):
        done = subprocess.run(
            ["sslscan", "--no-colour", "--xml=-", f"127.0.0.1:{port}"],
            capture_output=True,
            text=True,
            timeout=120,
        )
        return xml.etree.ElementTree.fromstring(done.stdout[done.stdout.index("<?xml"):])

    def test_the_chain_is_the_authoritys(self):
        for port, options in ((self.grpc, ["-alpn", "h2"]), (self.http, [])):
            own = self.cluster.certificate.read_text().split("-----END")[0] + "-----END CERTIFICATE-----\n"
            self.assertEqual(self.certificate_of(port), ssl.PEM_cert_to_DER_cert(own))
            said = self.s_client(port, *options)
            self.assertIn("Verification: OK", said)
            # Not believed by who does not know the cluster's CA.
            said = self.s_client(port, *options, "-CAfile", "/etc/ssl/certs/ca-certificates.crt")
            self.assertIn("Verification error", said)

    def certificate_of(self, port):
        context = ssl._create_unverified_context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
            with context.wrap_socket(plain) as connection:
                return connection.getpeercert(binary_form=True)

    def test_each_mistake_has_one_sentence(self):
        self.cluster.context(self.other_authority() / "ca.crt")
        said = self.refusal()
        self.assertRegex(said, "cannot reach .* is of a CA that is not believed here .*: give the CA")
        self.cluster.context(None)
        self.assertIn("speaks TLS: give the CA of that cluster", self.refusal())
        self.cluster.context(self.cluster.ca / "ca.crt")
        elsewhere = self.cluster.root / "elsewhere"
        names = "a.example,b.example"
        self.cluster.authority("issue", self.cluster.ca, "--server", names, "--out", elsewhere)
        self.cluster.install(elsewhere / "server-a.example")
        self.assertRegex(
            self.refusal_that_comes(),
            "is not for '127.0.0.1' but for a.example, b.example: use such a name, or have one",
        )

        # gRPC takes the file as it is; HTTPS keeps the one that holds.
        self.cluster.install(self.cluster.ca / "server-localhost")
        eventually("all is well", lambda: self.cluster.hai("nodes").code == 0)
        self.assertIsNotNone(self.cluster.leader())
        self.cluster.install(self.dated("expired", 2020, 2021))
        self.assertRegex(
            self.refusal_that_comes(),
            "has expired on 2021-01-01T00:00:00.*: its administrator must put a new one",
        )
        self.assertIsNotNone(self.cluster.leader())

    def test_an_agent_is_the_node_of_its_certificate(self):
        # Its certificate is node-1's, and it says that it is node-3.
        self.cluster.start_agent("node-3", certificate="node-1")
        self.addCleanup(self.cluster.end_agent, "node-3")
        sentence = "an agent says that it is node-3, but its certificate is that of node-1"
        eventually("it is refused", lambda: sentence in self.cluster.log_of("node-3"))
        eventually("the server says so", lambda: sentence in self.cluster.servers[0].log.read_text())
        self.assertEqual(self.cluster.log_of("node-3").count("refused_by_server"), 1)
        self.assertEqual(len(self.cluster.json("nodes")), 2)
        result = self.cluster.hai("exec", "true", "--", "-n", "3")
        self.assertIn("3 asked, but training has 2 nodes", result.err)

    def test_an_agent_without_a_certificate_is_refused(self):
        self.cluster.start_agent("node-4", certificate="")
        self.addCleanup(self.cluster.end_agent, "node-4")
        sentence = "an agent shows no certificate of a node: give it one"
        eventually("it is refused", lambda: sentence in self.cluster.log_of("node-4"))
        self.assertEqual(len(self.cluster.json("nodes")), 2)

    def test_a_certificate_of_another_ca_is_cut_off(self):
        other = self.other_authority()
        shutil.copy(other / "node-1.crt", self.cluster.ca / "foreign.crt")
        shutil.copy(other / "node-1.key", self.cluster.ca / "foreign.key")
        self.cluster.start_agent("node-5", certificate="foreign")
        self.addCleanup(self.cluster.end_agent, "node-5")
        eventually(
            "it is told",
            lambda: "does not take the certificate of this side" in self.cluster.log_of("node-5"),
        )

    def test_an_agent_does_not_believe_another_ca(self):
        self.cluster.start_agent("node-6", certificate="node-1", ca=self.other_authority() / "ca.crt")
        self.addCleanup(self.cluster.end_agent, "node-6")
        eventually(
            "it says why",
            lambda: "is of a CA that is not believed here" in self.cluster.log_of("node-6"),
        )

    def test_a_new_certificate_is_served_and_no_stream_is_lost(self):
        job = self.cluster.exec("sleep 1000", "-n", "2")
        self.cluster.wait_running(job)
        connected = [self.cluster.log_of(f"node-{n}").count("server_connected") for n in (1, 2)]
        fresh = self.cluster.root / "fresh"
        self.cluster.authority(
            "issue", self.cluster.ca, "--server", "127.0.0.1,renewed.example", "--out", fresh
        )
        self.cluster.install(fresh / "server-127.0.0.1")

        def names(port, *options):
            said = self.s_client(port, *options)
            return "CN = 127.0.0.1" in said and "Verification: OK" in said

        eventually("HTTPS shows the new one", lambda: names(self.http))
        eventually("gRPC shows the new one", lambda: names(self.grpc, "-alpn", "h2"))
        now = self.cluster.job(job)
        self.assertEqual((now["state"], now["attempt"]), ("running", 1))
        self.assertEqual(
            [self.cluster.log_of(f"node-{n}").count("server_connected") for n in (1, 2)], connected
        )
        self.assertNotIn("server_disconnected", self.cluster.log_of("node-1"))
        self.cluster.ok("stop", job)

    def test_the_ca_never_writes_over_a_file(self):
        said = self.cluster.authority("init", self.cluster.ca, code=1)
        self.assertIn("is there already, and nothing is written over", said)
        said = self.cluster.authority("issue", self.cluster.ca, "--node", "node-1", code=1)
        self.assertIn("is there already", said)
        for path in self.cluster.ca.iterdir():
            # Keys are for their owner alone, certificates for everybody.
            self.assertEqual(path.stat().st_mode & 0o777, 0o600 if path.suffix == ".key" else 0o644, path)
        said = self.cluster.authority("show", self.cluster.ca)
        self.assertRegex(said, r"node-1.crt\n  for      node node-1\n  until    ")


class StandbyTest(unittest.TestCase):
    def test_a_standby_sends_on_over_tls(self):
        cluster = TlsServers(count=2, nodes=0)
        self.addCleanup(cluster.close)
        cluster.up()
        leader = cluster.leader()
        standby = next(server for server in cluster.servers if server is not leader)

        def location():
            try:
                asked = http.client.HTTPSConnection(
                    "127.0.0.1", standby.http, timeout=5, context=cluster.browser()
                )
                asked.request("GET", "/api/v1/jobs?limit=3")
                return asked.getresponse().getheader("Location")
            except OSError:
                return None

        # It hears who leads a moment after it has started.
        eventually("it sends on", location)
        self.assertEqual(location(), f"https://127.0.0.1:{leader.http}/api/v1/jobs?limit=3")


class WithoutTokenTest(unittest.TestCase):
    def test_certificates_alone_are_enough(self):
        cluster = TlsServers(nodes=1)
        self.addCleanup(cluster.close)
        (cluster.root / "agent.token").unlink()
        plain = cluster.server_config
        cluster.server_config = lambda server: "".join(
            line
            for line in plain(server).splitlines(keepends=True)
            if not line.startswith("agent_token_file")
        )
        cluster.database.start()
        cluster.servers[0].start()
        eventually("a server leads", cluster.leader)
        folder = cluster.root / "nodes" / "node-1"
        cluster.start_agent("node-1")
        cluster.end_agent("node-1")
        config = folder / "agent.yaml"
        config.write_text(
            "".join(
                line
                for line in config.read_text().splitlines(keepends=True)
                if not line.startswith("token_file")
            )
        )
        cluster.agents["node-1"] = subprocess.Popen(
            [str(programs() / "hai-agent"), "--config", str(config)],
            stdout=open(cluster.root / "node-1.log", "ab"),
            stderr=subprocess.STDOUT,
            env=cluster.environment(),
        )
        eventually("the node is up", lambda: cluster.nodes_up() == 1, 60)
        cluster.wait_end(cluster.exec("true"))


if __name__ == "__main__":
    unittest.main()
