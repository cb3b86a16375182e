"""Strangers begin messages of 4 MB and never end them: what the server holds of them is little, and
those with a token are served meanwhile."""

import concurrent.futures
import time
import unittest

from cluster import eventually
from http2_stranger import Stranger
from servers import Servers

STRANGERS = 100
MEGABYTE = 1 << 20
WRONG_TOKEN = "hai_" + "0" * 64


class UnfinishedCase(unittest.TestCase):
    SERVERS = 1

    def setUp(self):
        # A server of its own for each: memory that was had once is not given back to the system.
        self.cluster = Servers(count=self.SERVERS, nodes=2)
        self.addCleanup(self.cluster.close)
        self.cluster.up()

    def held_of(self, method, token="", server=None):
        """(strangers refused, bytes by which the server has grown)."""
        server = server or self.cluster.servers[0]
        before = server.resident_bytes()

        def attack(_):
            return Stranger(server.grpc, method, token).send_all_but_the_end()

        with concurrent.futures.ThreadPoolExecutor(STRANGERS) as threads:
            strangers = list(threads.map(attack, range(STRANGERS)))
            held = server.resident_bytes() - before
            list(threads.map(lambda stranger: stranger.hear_refusal(5), strangers))
        refused = sum(stranger.is_refused for stranger in strangers)
        print(f"\n{method}: {refused} refused, {held // MEGABYTE} MB held", end=" ")
        eventually("people are served", lambda: self.cluster.hai("whoami").code == 0)
        self.assertEqual(self.cluster.nodes_up(), 2)
        for stranger in strangers:
            stranger.socket.close()
        return refused, held


class UnfinishedTest(UnfinishedCase):
    def test_of_those_without_a_token_nothing_is_read(self):
        for token in ("", WRONG_TOKEN):
            refused, held = self.held_of("/hai.v1.Api/SubmitJobs", token)
            self.assertEqual(refused, STRANGERS)
            self.assertLess(held, 40 * MEGABYTE)

    def test_of_agents_with_a_wrong_token_nothing_is_read(self):
        refused, held = self.held_of("/hai.v1.AgentService/Connect", WRONG_TOKEN)
        self.assertEqual(refused, STRANGERS)
        self.assertLess(held, 40 * MEGABYTE)

    def test_of_agents_that_only_begin_a_hello_few_are_read(self):
        refused, held = self.held_of("/hai.v1.AgentService/Connect")
        self.assertGreaterEqual(refused, STRANGERS - 16)
        self.assertLess(held, 200 * MEGABYTE)  # 16 that are read; of 100 it would be many times as much


class UnfinishedAtStandbyTest(UnfinishedCase):
    """A server that does not lead knows nobody, and so can refuse nobody by his token."""

    SERVERS = 2
    UNREAD = 64  # so many are let in whose message has not come

    def test_of_many_strangers_few_are_read(self):
        refused, held = self.held_of("/hai.v1.Api/SubmitJobs", WRONG_TOKEN, self.cluster.standby())
        self.assertGreaterEqual(refused, STRANGERS - self.UNREAD)
        self.assertLess(held, 6 * self.UNREAD * MEGABYTE)  # of all strangers it would be 430

    def test_their_connections_end_and_others_are_sent_on(self):
        standby = self.cluster.standby()
        with concurrent.futures.ThreadPoolExecutor(self.UNREAD) as threads:
            strangers = list(
                threads.map(
                    lambda _: Stranger(standby.grpc, "/hai.v1.Api/SubmitJobs", WRONG_TOKEN),
                    range(self.UNREAD + 16),
                )
            )
            began = time.monotonic()
            ended = list(threads.map(lambda stranger: stranger.hear_refusal(30), strangers))
        self.assertTrue(all(ended))
        print(f"\nended after {time.monotonic() - began:.1f} s at most", end=" ")
        self.cluster.write_context([standby.grpc])
        eventually("people are sent on", lambda: self.cluster.hai("whoami").code == 0)


if __name__ == "__main__":
    unittest.main()
