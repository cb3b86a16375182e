#!/usr/bin/python3
"""What the site's judge counts: submits that were acknowledged and are gone, and refusals that last too long."""

import pathlib
import sys
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / "e2e" / part) for part in ("chaos", "ha_store"))]

import site_faults  # noqa: E402
from ha_load import Submit  # noqa: E402
from site_judge import SiteJudge  # noqa: E402


def acknowledged(name, *answers):
    submit = Submit(name, {})
    submit.answers += answers
    return submit


class SiteJudgeTest(unittest.TestCase):
    def setUp(self):
        self.submits = [acknowledged("probe-0", 1), acknowledged("probe-1", 2, 2), acknowledged("worker-0", 3)]
        stream = types.SimpleNamespace(tried={submit.name for submit in self.submits})
        self.judge = SiteJudge(None, [stream], people=[])

    def look(self, **jobs):
        found = [{"name": name.replace("_", "-"), "id": number} for name, number in jobs.items()]
        return list(self.judge.check_submits([self.submits[:2], self.submits[2:]], found))

    def test_what_was_acknowledged_and_is_gone_is_counted(self):
        self.assertEqual(self.look(probe_0=1, probe_1=2, worker_0=3, validate_node_1=4), [])
        self.assertEqual(self.judge.missing, set())
        self.assertEqual(len(self.look(probe_0=1, probe_1=5)), 2)
        self.assertEqual(self.judge.missing, {"probe-1", "worker-0"}, "gone, and there as another job")

    def test_a_refusal_has_a_bound(self):
        self.assertEqual(self.judge.too_long(14.0, 15.0), [])
        found = self.judge.too_long(15.1, 15.0)
        self.assertEqual(found, ["submits were refused for 15.1 s, 15 s at most were expected"])
        self.assertEqual(self.judge.complaints, found, "the verdict is bad, too")
        for fault in site_faults.FAULTS:
            self.assertLessEqual(fault.refused_most, 60, fault.name)


if __name__ == "__main__":
    unittest.main()
