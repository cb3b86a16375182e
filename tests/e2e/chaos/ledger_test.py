"""The judge's rules, each held against a ledger that breaks it: a check that never fails is none."""

import pathlib
import tempfile
import types
import unittest

from faults import Fault, plan_faults
from judge import FENCED_WITHIN, Judge
from ledger import check_log, check_work, find_overlaps, find_shared_gpus, read_ledger
from world import FENCE, STRANGER

GOOD = """start 1 0 n1 10.0 0,1 0
mark 1 0 n1 10.2
work 1 0 n1 10.4 0
work 1 0 n1 10.8 1
save 1 0 n1 10.8 2
work 1 0 n1 11.2 2
start 2 0 n2 20.0 0,1 2
work 2 0 n2 20.4 2
save 2 0 n2 20.4 3
end 2 0 n2 20.5 53
"""


def runs_of(text, job=7):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / str(job)
        path.write_text(text)
        return read_ledger(path)


def log_of(numbers):
    return "".join(f"2026-11-20T08:00:00.000Z line {number} xxx\n" for number in numbers)


class Ledgers(unittest.TestCase):
    def test_a_good_one_breaks_no_rule(self):
        runs, complaints = runs_of(GOOD)
        self.assertEqual(complaints, [])
        self.assertEqual(find_overlaps(runs), [])
        self.assertEqual(find_shared_gpus(runs), [])
        self.assertEqual(check_work(runs, 3, 1), [])

    def test_attempts_that_overlap_are_found(self):
        runs, _ = runs_of(GOOD + "mark 1 0 n1 20.1\n")
        [(later, earlier, seconds)] = find_overlaps(runs)
        self.assertEqual((later.attempt, earlier.attempt, round(seconds, 1)), (2, 1, 0.1))

    def test_a_gpu_given_twice_is_found(self):
        runs, _ = runs_of(GOOD)
        others, _ = runs_of("start 1 0 n1 11.0 1,2 0\nmark 1 0 n1 12.0\n", job=8)
        [(_, _, node, gpu)] = find_shared_gpus(runs + others)
        self.assertEqual((node, gpu), ("n1", 1))

    def test_a_step_that_nobody_did_is_found(self):
        runs, _ = runs_of(GOOD)
        self.assertIn("never done", check_work(runs, 4, 1)[0])
        self.assertIn("never done", check_work(runs, 3, 2)[0])

    def test_work_redone_before_the_checkpoint_is_found(self):
        runs, _ = runs_of(GOOD.replace("start 2 0 n2 20.0 0,1 2", "start 2 0 n2 20.0 0,1 1"))
        self.assertIn("2 were saved", check_work(runs, 3, 1)[0])

    def test_a_second_start_of_one_attempt_is_found(self):
        _, complaints = runs_of(GOOD + "start 2 0 n3 30.0 0 2\n")
        self.assertIn("starts twice", complaints[0])

    def test_life_after_the_end_is_found(self):
        _, complaints = runs_of(GOOD + "mark 2 0 n2 30.0\n")
        self.assertIn("after its end", complaints[0])

    def test_lost_and_doubled_lines_are_found(self):
        run = runs_of(GOOD)[0][1]
        self.assertEqual(check_log(log_of(range(1, 54)), run), "")
        self.assertIn("lost", check_log(log_of([*range(1, 20), *range(21, 54)]), run))
        self.assertIn("twice", check_log(log_of([*range(1, 54), 53]), run))
        self.assertIn("it wrote 53", check_log(log_of(range(1, 53)), run))

    def test_a_killed_rank_keeps_what_it_wrote_before_its_last_sign_of_life(self):
        run = runs_of("start 1 0 n1 10.0 - 0\nwork 1 0 n1 10.4 0\nmark 1 0 n1 10.6\n")[0][0]
        self.assertEqual(check_log(log_of(range(1, 53)), run), "")
        self.assertIn("52 at least", check_log(log_of(range(1, 52)), run))


def judge_of(text, faults, downs=()):
    judge = object.__new__(Judge)
    judge.runs, judge.faults, judge.knows_peers = {7: runs_of(text)[0]}, faults, True
    judge.truth = types.SimpleNamespace(downs=list(downs))
    return judge


def fault(kind, began, ended, choice=0.9, note=""):
    hosts = ["n1", STRANGER] if kind == "impostor" else ["n1"]
    return Fault(1, kind, 0.0, ended - began, hosts, choice, began, ended, note)


class AgentsAway(unittest.TestCase):
    def test_a_rank_that_outlives_the_fence_of_a_stopped_agent_is_found(self):
        lives = "start 1 0 n1 10.0 - 0\nmark 1 0 n1 {:.1f}\n"
        stopped = [fault("agent_stopped", 12.0, 50.0)]
        limit = 12.0 + FENCE + FENCED_WITHIN
        self.assertEqual(list(judge_of(lives.format(limit - 0.1), stopped).check_fences()), [])
        self.assertEqual(len(list(judge_of(lives.format(limit + 0.1), stopped).check_fences())), 1)
        woken = [fault("agent_stopped", 12.0, limit - 1)]
        self.assertEqual(list(judge_of(lives.format(limit + 9), woken).check_fences()), [])

    def test_an_impostor_gets_in_only_where_the_node_was_given_up(self):
        def complaints(note, choice=0.9, downs=()):
            faults = [fault("impostor", 12.0, 50.0, choice, note)]
            return len(list(judge_of(GOOD, faults, downs).check_impostors()))

        self.assertEqual(complaints("beside: refused"), 0)
        self.assertEqual(complaints("beside: got in"), 1)
        self.assertEqual(complaints("beside: got in", downs=[("n2", 20.0)]), 1)
        self.assertEqual(complaints("beside: got in", downs=[("n1", 20.0)]), 0)
        self.assertEqual(complaints("instead: got in", choice=0.1), 0)

    def test_an_impostor_that_was_refused_excuses_no_dead_rank(self):
        lost = types.SimpleNamespace(
            ranks=[types.SimpleNamespace(node="n1")], placed=10.0, ended=20.0
        )
        refused = fault("impostor", 12.0, 50.0, note="beside: refused")
        instead = fault("impostor", 12.0, 50.0, choice=0.1, note="instead: got in")
        self.assertIsNone(judge_of(GOOD, [refused]).blame(lost))
        self.assertIs(judge_of(GOOD, [instead]).blame(lost), instead)


    def test_most_peers_silent_excuse_a_fenced_rank_and_fewer_do_not(self):
        def excused(hit, named=("a", "b", "c", "d", "e"), cause="fenced"):
            faults = [Fault(1, "pause_node", 0.0, 9.0, [peer], 0.9, 11.0, 20.0, "") for peer in hit]
            judge = judge_of("start 1 0 n1 10.0 - 0\nmark 1 0 n1 15.0\n", faults)
            judge.truth.peers = {"n1": [(5.0, list(named))]} if named else {}
            rank = types.SimpleNamespace(rank=0, cause=cause)
            return judge.could_not_ask(types.SimpleNamespace(job=7, number=1, ranks=[rank]))

        self.assertFalse(excused(["a", "b"]))
        self.assertTrue(excused(["a", "b", "c"]))
        self.assertFalse(excused(["a", "b", "c"], cause="exited"))
        self.assertFalse(excused(["x", "y", "z"]))
        self.assertTrue(excused([], named=()))


class Schedules(unittest.TestCase):
    def test_depend_on_the_seed_alone(self):
        nodes = [f"node-{number}" for number in range(20)]
        leaves = [nodes[first : first + 5] for first in range(0, 20, 5)]

        def plan(seed):
            return [str(one) for one in plan_faults(seed, 300, nodes, leaves, nodes[-1], 2.0)]

        self.assertEqual(plan(1), plan(1))
        self.assertNotEqual(plan(1), plan(2))


if __name__ == "__main__":
    unittest.main()
