"""A flood: 40,000 submits outstanding all the time, from clients that do not wait when they are
refused. What is acknowledged stays, what is refused says when to ask again, and no node looks silent
meanwhile. (How much is refused depends on who is faster; that it is at the bound is tested in
tests/unit/rpc/backpressure_test.cpp.)"""

import json
import subprocess
import unittest

from cluster import ClusterTest, programs
from servers import postgres_folder


class OverloadTest(ClusterTest):
    shape = {"name": "overload", "fleet": 100}
    # A node is suspect after two missed heartbeats: two seconds here.
    up_options = ("--knob", "heartbeat=1s", "--knob", "max_unfinished_jobs_per_user=1000000")

    def flood(self, seconds):
        data = self.cluster.data
        accepted = self.cluster.work / "accepted"
        status = self.cluster.status()
        words = [programs() / "hai_load", "--server", status["grpc"]]
        words += ["--ca", self.cluster.ca_file, "--token-file", data / "admin.token", "storm", "--seconds", seconds]
        words += ["--outstanding", 40_000, "--connections", 40, "--accepted", accepted]
        done = subprocess.run(
            list(map(str, words)), stdout=subprocess.PIPE, text=True, timeout=120, check=True
        )
        ids = [int(line) for line in accepted.read_text().split()]
        return json.loads(done.stdout), ids

    def stored(self):
        conninfo = self.cluster.status()["postgres"]
        words = [postgres_folder() / "psql", conninfo, "-qAt", "-c", "SELECT id FROM job"]
        done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, text=True, check=True)
        return {int(line) for line in done.stdout.split()}

    def test_a_flood_loses_nothing_and_silences_nobody(self):
        answer, accepted = self.flood(3)
        print(json.dumps(answer))
        self.assertEqual(set(answer["codes"]) - {"0", "8"}, set(), "accepted or exhausted, no else")
        self.assertEqual(answer["refused_without_hint"], 0)
        self.assertGreater(len(accepted), 1_000)
        self.assertEqual(len(set(accepted)), len(accepted))

        # At once after it: somebody who asks is answered.
        job = self.cluster.run(self.cluster.spec("after-the-flood", "sleep", "1", priority="high"))
        self.cluster.wait_end(job, seconds=60)

        events = self.cluster.json("events", "-n", 1000)
        silent = [event for event in events if event["kind"] == "node_liveness_changed"]
        silent = [event for event in silent if "heartbeats" in event["text"]]
        self.assertEqual(silent, [], "heartbeats come first")
        lost = len(set(accepted) - self.stored())
        self.assertEqual(lost, 0, "jobs that were acknowledged are not there")


if __name__ == "__main__":
    unittest.main()
