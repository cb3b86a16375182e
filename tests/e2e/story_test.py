"""The promise in one test: a training job is suspended for a more important one and loses, one after
the other, an agent, a node, the server and the database; it ends with exactly the weights of a run
that nothing happened to."""

import datetime
import time
import unittest

from cluster import ClusterTest, eventually
from training import Training, alive, is_alive

GRACE_SECONDS = 60
REQUEUE_SECONDS = 60  # from the death of a node to the job running elsewhere


def seconds_between(first, second):
    first, second = (
        datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (first, second)
    )
    return (second - first).total_seconds()


class StoryTest(ClusterTest):
    shape = {"name": "story", "nodes": 4}

    def test_a_training_survives_everything_with_the_exact_result(self):
        cluster = self.cluster
        alone = Training(cluster, "alone", steps=700, step_seconds=0)
        alone.run_alone()
        self.low = Training(cluster, "train", steps=700, step_seconds=0.08)
        self.job = cluster.run(self.low.spec(nodes=2, priority="low", grace=f"{GRACE_SECONDS}s"))
        self.starts()
        self.is_suspended_and_resumes()
        self.survives_its_agent()
        self.survives_its_node()
        self.survives_the_server()
        self.survives_the_database()
        self.ends_exactly_like(alone)

    def starts(self):
        self.cluster.wait_running(self.job)
        self.low.wait_started(attempt=1, ranks=2)
        self.low.wait_steps(25)
        now = self.cluster.job(self.job)
        self.assertEqual(now["state"], "running")
        self.assertEqual(len(set(now["nodes"])), 2)

    def is_suspended_and_resumes(self):
        cluster = self.cluster
        pids = self.low.pids(attempt=1)
        urgent = Training(cluster, "urgent", steps=60, step_seconds=0.05, seed=2)
        urgent_job = cluster.run(urgent.spec(nodes=4, priority="high"))
        cluster.wait_running(urgent_job)
        self.assertEqual(cluster.job(self.job)["state"], "suspended")
        self.assertEqual(
            alive(pids), {}, "a suspended job's ranks must be gone before its nodes are given away"
        )
        # It waits for the urgent one, and says so.
        why = cluster.json("why", self.job)
        self.assertTrue(why["pending_reason"]["text"], why)

        # Every rank left by itself, after the same step, within the grace, before anybody came.
        left = self.low.ledger("suspend", attempt=1)
        self.assertEqual({line["rank"] for line in left}, {0, 1}, left)
        step = left[0]["step"]
        self.assertEqual({line["step"] for line in left}, {step})
        first_urgent = min(
            line["time"] for line in eventually("urgent starts", lambda: urgent.ledger("start"))
        )
        self.assertLess(max(line["time"] for line in left), first_urgent)
        events = {
            event["kind"]: event
            for event in cluster.json("events", self.job)
            if event["kind"] in ("attempt_suspending", "attempt_ended")
        }
        asked, ended = events["attempt_suspending"]["time"], events["attempt_ended"]["time"]
        self.assertLess(seconds_between(asked, ended), GRACE_SECONDS)

        cluster.wait_end(urgent_job)
        cluster.wait_running(self.job, attempt=2)
        self.low.wait_started(attempt=2, ranks=2)
        self.assertEqual(
            {line["step"] for line in self.low.ledger("start", attempt=2)},
            {step},
            "nothing is trained twice after an orderly suspend",
        )
        now = cluster.job(self.job)
        self.assertEqual((now["suspend_count"], now["requeue_count"]), (1, 0))
        self.low.wait_steps(15)

    def survives_its_agent(self):
        cluster, pids = self.cluster, self.low.pids(attempt=2)
        agent = f"agent:{cluster.job(self.job)['nodes'][1]}"
        node = agent.partition(":")[2]
        cluster.kill(agent)
        self.low.wait_steps(10)
        self.assertEqual(alive(pids), pids, "the ranks live on without their agent")
        cluster.wait_node(node, "suspect")
        cluster.start(agent)
        cluster.wait_node(node, "up")
        self.low.wait_steps(10)
        now = cluster.job(self.job)
        self.assertEqual((now["state"], now["attempt"]), ("running", 2))
        self.assertEqual(alive(pids), pids, "the new agent adopts the ranks")

    def survives_its_node(self):
        cluster, pids = self.cluster, self.low.pids(attempt=2)
        before = cluster.job(self.job)
        node = before["nodes"][1]
        killed = time.monotonic()
        cluster.kill(f"node:{node}")
        self.assertFalse(is_alive(pids[1]))
        now = cluster.wait_running(self.job, attempt=3, seconds=REQUEUE_SECONDS)
        self.assertLess(time.monotonic() - killed, REQUEUE_SECONDS)
        self.assertNotIn(node, now["nodes"])
        self.assertEqual((now["suspend_count"], now["requeue_count"]), (1, 1))
        self.assertEqual(alive(pids), {}, "no rank of the lost attempt is left")
        self.low.wait_started(attempt=3, ranks=2)
        step = {line["step"] for line in self.low.ledger("start", attempt=3)}
        self.assertEqual(len(step), 1)
        self.assertEqual(step.pop() % 10, 0, "it goes on from its last checkpoint")
        self.assertEqual(cluster.node(node)["liveness"], "down")
        cluster.start(f"node:{node}")
        cluster.wait_node(node, "up")

    def survives_the_server(self):
        cluster, pids = self.cluster, self.low.pids(attempt=3)
        # Acknowledged in the last moment; held, so that it stays what it is.
        waiting = cluster.json(
            "exec",
            "/bin/true",
            "--",
            "-n",
            "4",
            "--name",
            "acknowledged",
            "--begin-at",
            "2099-01-01T00:00:00Z",
        )["id"]
        cluster.kill("server")
        self.assertEqual(cluster.hai("list").code, 5, "nobody answers")
        self.low.wait_steps(20)
        self.assertEqual(alive(pids), pids, "running ranks notice nothing")
        cluster.start("server")
        self.assertEqual(cluster.job(waiting)["state"], "queued")
        self.assertEqual(cluster.job(waiting)["name"], "acknowledged")
        for node in cluster.job(self.job)["nodes"]:
            cluster.wait_node(node, "up")
        self.low.wait_steps(10)
        now = cluster.job(self.job)
        self.assertEqual((now["state"], now["attempt"]), ("running", 3))
        self.assertEqual(alive(pids), pids)
        cluster.ok("stop", waiting)

    def survives_the_database(self):
        cluster, pids = self.cluster, self.low.pids(attempt=3)
        cluster.kill("postgres")
        self.low.wait_steps(20)
        self.assertEqual(alive(pids), pids, "running ranks notice nothing")
        cluster.start("postgres")
        # It resumes by itself: the same server, no restart.
        done = eventually("the server takes jobs again", lambda: self.submit_if_possible())
        cluster.wait_end(done)
        now = cluster.job(self.job)
        self.assertEqual((now["state"], now["attempt"]), ("running", 3))
        self.assertEqual(alive(pids), pids)

    def submit_if_possible(self):
        result = self.cluster.hai("exec", "/bin/true", "--", "-n", "1", "-o", "json")
        return result.json()["id"] if result.code == 0 else None

    def ends_exactly_like(self, alone):
        self.assertEqual(self.cluster.hai("wait", self.job, seconds=180).code, 0)
        self.assertEqual(self.cluster.wait_end(self.job)["exit_code"], 0)
        result = self.low.result()
        self.assertEqual(result["world_size"], 2)
        self.assertEqual(result["sha256"], alone.result()["sha256"])
        self.assertEqual(result["loss"], alone.result()["loss"])
        self.assertEqual(self.low.curve(), alone.curve(), "each step once, with the same loss")
        self.assertIn(f"final weights sha256={result['sha256']}", self.cluster.log(self.job))
        attempts = [line["attempt"] for line in self.low.ledger("start")]
        self.assertEqual(sorted(attempts), [1, 1, 2, 2, 3, 3], "three attempts of two ranks")


if __name__ == "__main__":
    unittest.main()
