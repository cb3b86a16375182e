"""What an experiment asks the server for: a log in windows, a search in pages, a rerun under a key,
tags one by one. Against a server of this test; tests/e2e/sdk_client_test.py has a real one."""

import asyncio
import json
import unittest
import urllib.parse
from unittest import mock

import paths  # noqa: F401  puts the SDK on the path

import hai
import hai.client as client
from client_test import Server
from hai import _context, _experiment, _rest

JOB = {
    "id": 7,
    "name": "train",
    "user": "ann",
    "group": "default",
    "state": "failed",
    "workspace": "/w",
    "entrypoint": "job.sh",
    "priority": "normal",
    "node_count": 2,
    "attempt": 1,
    "submitted_at": "2026-11-20T08:00:00Z",
    "tags": ["old"],
}
ATTEMPT = {"state": "failed", "ranks": [{"rank": 0, "node": "a"}, {"rank": 1, "node": "b"}]}
STATE = [(200, JOB, {}), (200, {"attempts": [ATTEMPT]}, {})]


def piece(text, offset, size):
    return 200, text, {"HAI-Log-Offset": str(offset), "HAI-Log-Size": str(size)}


def found(ranks, unread=(), cursor=None):
    lines = [{"attempt": 1, "rank": rank, "offset": 0, "at": None, "text": "x"} for rank in ranks]
    return 200, {"lines": lines, "unread": list(unread), "next_cursor": cursor}, {}


class ExperimentTest(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(_rest, "PAUSE_SECONDS", 0.01)
        patch.start()
        self.addCleanup(patch.stop)

    def experiment(self, *answers):
        self.server = Server(*answers)
        self.addCleanup(self.server.close)
        rest = _rest.Rest(_context.Context([self.server.url], "secret"))
        return client.Experiment(JOB, (), rest)

    def asked(self, part):
        """The queries of the requests whose path holds `part`."""
        queries = []
        for _, target, _, _ in self.server.asked:
            path, _, query = target.partition("?")
            if part in path:
                queries.append(dict(urllib.parse.parse_qsl(query)))
        return queries

    def test_a_log_is_read_in_windows_up_to_the_end_it_had(self):
        # It grows while it is read: who follows it asks again.
        job = self.experiment(*STATE, piece(b"first\n", 0, 11), piece(b"last\nmore\n", 6, 90))
        self.assertEqual(asyncio.run(job.log(rank=1)), "first\nlast\nmore\n")
        self.assertEqual(job.last_seen, "1:16")
        asked = self.asked("/logs")
        self.assertEqual([query["offset"] for query in asked], ["0", "6"])
        for query in asked:
            self.assertEqual((query["rank"], query["attempt"]), ("1", "1"))
            self.assertEqual(query["max_bytes"], str(_experiment.LOG_BYTES))

    def test_a_letter_over_two_windows_stays_whole(self):
        two = "\u00e4".encode()
        job = self.experiment(*STATE, piece(two[:1], 0, 2), piece(two[1:], 1, 2))
        self.assertEqual(asyncio.run(job.log()), "\u00e4")

    def test_after_a_rotation_it_goes_on_behind_what_was_read(self):
        job = self.experiment(
            *STATE, piece(b"kept\n", 5_000, 5_005), *STATE, piece(b"", 5_005, 5_005)
        )
        first = asyncio.run(job.log_ng(last_seen="1:100"))
        self.assertEqual((first["data"], first["last_seen"]), ("kept\n", "1:5005"))
        second = asyncio.run(job.log_ng(last_seen=first["last_seen"]))
        self.assertEqual((second["data"], second["last_seen"]), ("", "1:5005"))
        self.assertEqual([query["offset"] for query in self.asked("/logs")], ["100", "5005"])

    def test_a_later_attempt_has_a_log_of_its_own(self):
        job = self.experiment(*STATE, piece(b"new\n", 0, 4))
        self.assertEqual(asyncio.run(job.log(last_seen="0:900")), "new\n")
        self.assertEqual(self.asked("/logs")[0]["offset"], "0")

    def test_the_servers_search_page_by_page(self):
        job = self.experiment(*STATE, found([0, 0, 1], cursor="1.1.9"), found([1, 1]))
        self.assertEqual(asyncio.run(job.search_in_global("Loss=")), [2, 3])
        asked = self.asked("/logs")
        self.assertEqual(self.asked("/logs/search"), asked, "no log is fetched")
        self.assertEqual([query.get("cursor") for query in asked], [None, "1.1.9"])
        self.assertEqual((asked[0]["text"], asked[0]["match_case"]), ("Loss=", "true"))

    def test_a_log_that_could_not_be_searched_is_not_counted_as_empty(self):
        unread = [{"attempt": 1, "rank": 1, "reason": "node b is down"}]
        job = self.experiment(*STATE, found([0], unread))
        with self.assertRaisesRegex(hai.Unreachable, "rank 1: node b is down"):
            asyncio.run(job.search_in_global("x"))

    def test_the_events_of_all_pages_in_their_order(self):
        def page(texts, cursor):
            # All in one millisecond, and not in the order of the alphabet.
            events = [{"time": "2026-11-20T08:00:00.000Z", "text": text} for text in texts]
            return 200, {"events": events, "next_cursor": cursor}, {}

        job = self.experiment(page(["submitted", "placed"], 12), page(["ended"], None))
        said = [line.partition("] ")[2] for line in asyncio.run(job.sys_log()).splitlines()]
        self.assertEqual(said, ["submitted", "placed", "ended"])
        self.assertEqual([query["after"] for query in self.asked("/events")], ["0", "12"])

    def test_a_rerun_that_is_tried_again_makes_one_job(self):
        made = {**JOB, "id": 8, "attempt": 0, "state": "queued"}
        reply = (201, {"job_id": 8, "name": "train"}, {})
        job = self.experiment(*STATE, (0, None, {}), reply, (200, made, {}))
        again = asyncio.run(job.rerun())
        self.assertEqual((again.id, again.queue_status), (8, "queued"))
        posts = [(path, body) for method, path, body, _ in self.server.asked if method == "POST"]
        self.assertEqual([path for path, _ in posts], ["/api/v1/jobs/7/rerun"] * 2)
        self.assertEqual(posts[0][1], posts[1][1])
        self.assertTrue(json.loads(posts[0][1])["request_id"])

    def test_tags_one_by_one(self):
        edited = (200, {}, {})
        tagged = [(200, {**JOB, "tags": ["old", "star"]}, {}), STATE[1]]
        job = self.experiment(*STATE, edited, *tagged, *tagged, edited, *STATE)
        self.assertTrue(asyncio.run(job.tag_task("star")))
        self.assertTrue(job.star)
        self.assertTrue(asyncio.run(job.untag_task("old")))
        edits = [
            json.loads(body)
            for method, path, body, _ in self.server.asked
            if (method, path) == ("POST", "/api/v1/jobs/7/edit")
        ]
        self.assertEqual(edits, [{"tags": ["old", "star"]}, {"tags": ["star"]}])

    def test_a_tag_that_is_there_or_is_not_changes_nothing(self):
        job = self.experiment(*STATE, *STATE)
        self.assertTrue(asyncio.run(job.tag_task("old")))
        self.assertTrue(asyncio.run(job.untag_task("never")))
        self.assertEqual({method for method, _, _, _ in self.server.asked}, {"GET"})

    def test_each_priority_of_haIs_is_one_of_hais(self):
        numbers = {value for name, value in vars(client.EXP_PRIORITY).items() if name.isupper()}
        self.assertEqual(len(numbers), 9)
        self.assertEqual(numbers, set(_experiment.PRIORITIES.values()))
        self.assertEqual(_experiment._priority_word(client.EXP_PRIORITY.VERY_HIGH), "very_high")
        self.assertEqual(client.Experiment({**JOB, "priority": "auto"}, (), object()).priority, -1)


if __name__ == "__main__":
    unittest.main()
