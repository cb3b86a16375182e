"""Floods of connections that say nothing, or nothing that makes sense, against a server that may
open few files: whoever has a token is served meanwhile, and the agents stay where they are."""

import collections
import contextlib
import http.client
import math
import resource
import socket
import ssl
import statistics
import threading
import time
import unittest

from cluster import eventually
from servers import Servers, ServersTest, free_port
from tls_test import TlsServers

OPEN_FILES = 600
FLOOD = 900
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"  # and then nothing


class ServersWithHealth(Servers):
    """Their health has a port of its own."""

    def server_config(self, server):
        server.health = free_port()
        grpc = f'listen: {{grpc: "127.0.0.1:{server.grpc}"'
        return super().server_config(server).replace(
            grpc, f'{grpc}, health: "127.0.0.1:{server.health}"'
        )


class FloodTest(ServersTest):
    @classmethod
    def make(cls):
        return ServersWithHealth()

    @classmethod
    def prepare(cls):
        # Both servers, so that it does not matter who leads.
        for server in cls.cluster.servers:
            server.wrapper = ["prlimit", f"--nofile={OPEN_FILES}:{OPEN_FILES}"]

    def flood(self, port, text=b""):
        """So many connections from one address, kept open until the test is over."""
        for _ in range(FLOOD):
            one = socket.socket()
            self.addCleanup(one.close)
            one.settimeout(5)
            # A full queue, or a connection that was cut: what a flood has to live with.
            with contextlib.suppress(OSError):
                one.connect(("127.0.0.1", port))
                one.sendall(text)

    def is_served(self):
        return self.cluster.hai("whoami", seconds=15).code == 0

    def check_served(self):
        leader = self.cluster.leader()
        self.assertIsNotNone(leader, "nobody answers /readyz")
        eventually("somebody with a token is served", self.is_served, 60)
        self.assertEqual(self.cluster.nodes_up(), 2)
        said = leader.get("/metrics")[2]
        self.assertIn("hai_leader 1", said)

    def test_silent_connections_keep_nobody_from_grpc(self):
        self.flood(self.cluster.leader().grpc)
        self.check_served()

    def test_connections_that_begin_and_stop_keep_nobody_from_grpc_for_long(self):
        self.flood(self.cluster.leader().grpc, PREFACE)
        self.check_served()

    def test_silent_connections_keep_nobody_from_http(self):
        self.flood(self.cluster.leader().http)
        self.check_served()

    def health(self, server, path):
        connection = http.client.HTTPConnection("127.0.0.1", server.health, timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def test_health_has_a_port_of_its_own(self):
        leader = self.cluster.leader()
        self.flood(leader.http, b"GET /livez HTTP/1.1\r\n")
        self.assertEqual(self.health(leader, "/livez"), (200, "ok\n"))
        self.assertEqual(self.health(leader, "/readyz"), (200, "leading\n"))
        self.assertIn("hai_leader 1", self.health(leader, "/metrics")[1])
        self.assertEqual(self.health(self.cluster.standby(), "/readyz")[0], 503)
        for path in ("/api/v1/whoami", "/", "/api/v1/jobs"):
            self.assertEqual(self.health(leader, path)[0], 404, path)

    def test_readiness_says_that_grpc_takes_nobody(self):
        leader = self.cluster.leader()
        # Before the server has no number left for one more connection.
        kept = http.client.HTTPConnection("127.0.0.1", leader.health, timeout=10)
        self.addCleanup(kept.close)

        def asked(path):
            kept.request("GET", path)
            answer = kept.getresponse()
            return answer.status, answer.read().decode()

        def limit(soft):
            resource.prlimit(leader.process.pid, resource.RLIMIT_NOFILE, (soft, OPEN_FILES))

        self.assertEqual(asked("/readyz"), (200, "leading\n"))
        self.addCleanup(limit, OPEN_FILES)
        limit(16)
        with socket.create_connection(("127.0.0.1", leader.grpc), timeout=5):
            trouble = "leading; gRPC takes no connections: Too many open files\n"
            eventually("it says so", lambda: asked("/readyz") == (503, trouble), 20)
            self.assertEqual(asked("/livez"), (200, "ok\n"))
            limit(OPEN_FILES)
            eventually("all is well", lambda: asked("/readyz") == (200, "leading\n"), 20)
        self.check_served()

    def test_metrics_are_not_for_strangers_who_reach_the_other_port(self):
        leader = self.cluster.leader()
        for head in ({"Authorization": ""}, {"Authorization": "Bearer hai_" + "0" * 64}):
            for path in ("/metrics", "/metrics?x=1", "/%6detrics"):
                status, _, text = leader.get(path, headers=head)
                self.assertIn(status, (401, 404), path)
                self.assertNotIn("hai_leader", text)
        status, _, text = leader.get("/metrics", headers={"Authorization": ""})
        self.assertEqual(status, 401)
        self.assertIn("listen.health", text)
        self.assertIn("hai_leader 1", leader.get("/metrics")[2], "who has a token")
        self.assertEqual(leader.get("/readyz", headers={"Authorization": ""})[0], 200)

    def test_both_ports_at_once(self):
        leader = self.cluster.leader()
        self.flood(leader.http, b"GET /livez HTTP/1.1\r\n")
        self.flood(leader.grpc)
        self.check_served()


class TlsFloodTest(ServersTest):
    make = TlsServers

    CHURNERS = 4
    KEPT = 150  # of each, so that the server has what they began to work on
    ASKED = 10  # from each address
    SECONDS_AT_MOST = 5  # an answer to another address; the churners' own may get none at all

    def hello(self):
        """The first words of a client."""
        said = ssl.MemoryBIO()
        client = self.cluster.browser().wrap_bio(ssl.MemoryBIO(), said, server_hostname="127.0.0.1")
        with contextlib.suppress(ssl.SSLWantReadError):
            client.do_handshake()
        return said.read()

    def churn(self, stop):
        """Begins TLS from 127.0.0.1 as fast as it can."""
        hello, kept = self.hello(), collections.deque()
        while not stop.is_set():
            one = socket.socket()
            one.settimeout(0.5)
            with contextlib.suppress(OSError):
                one.connect(("127.0.0.1", self.cluster.servers[0].http))
                one.sendall(hello)
            kept.append(one)
            self.begun += 1
            if len(kept) > self.KEPT:
                kept.popleft().close()
        for one in kept:
            one.close()

    def seconds_of_an_answer(self, address):
        """To a new connection from there."""
        began = time.monotonic()
        connection = http.client.HTTPSConnection(
            "127.0.0.1",
            self.cluster.servers[0].http,
            timeout=30,
            source_address=(address, 0),
            context=self.cluster.browser(),
        )
        connection.request("GET", "/livez")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        return time.monotonic() - began

    def test_one_address_that_begins_tls_again_and_again_keeps_nobody_waiting(self):
        """Who comes from another address waits for none of them; who comes from the same one waits behind them."""
        self.begun, stop = 0, threading.Event()
        churners = [
            threading.Thread(target=self.churn, args=(stop,)) for _ in range(self.CHURNERS)
        ]
        for churner in churners:
            churner.start()
        try:
            # Then more is begun than the server can finish at once.
            eventually("they churn", lambda: self.begun > 2 * self.CHURNERS * self.KEPT, 60)
            same, other = [], []
            for _ in range(self.ASKED):
                other.append(self.seconds_of_an_answer("127.0.0.2"))
                try:
                    same.append(self.seconds_of_an_answer("127.0.0.1"))
                except OSError:  # one of too many from there
                    same.append(math.inf)
        finally:
            stop.set()
            for churner in churners:
                churner.join()
        same, other = statistics.median(same), statistics.median(other)
        print(f"\nan answer took {other:.2f} s, from the churners' own address {same:.2f} s", end=" ")
        self.assertLess(other, min(same / 2, self.SECONDS_AT_MOST))


if __name__ == "__main__":
    unittest.main()
