"""Programs written for HAI: `import hfai` and `hfai.client` mean what they meant there."""

import os
import subprocess
import sys
import unittest
from unittest import mock

import paths
from fake_shim import FakeShim

import hfai
from hfai.client import get_whole_life_state, receive_suspend_command, set_whole_life_state


class InJob(unittest.TestCase):
    def setUp(self):
        self.shim = FakeShim()
        self.addCleanup(self.shim.close)
        environment = mock.patch.dict(
            os.environ, HAI_SOCKET=self.shim.path, MARSV2_NB_NAME="llm", MARSV2_TASK_ID="42",
            MARSV2_RANK="3", MARSV2_NODE_NAME="node-7", MARSV2_USER="ann")
        environment.start()
        self.addCleanup(environment.stop)

    def test_states_are_ints(self):
        self.assertEqual(get_whole_life_state(), 0)
        self.assertIs(set_whole_life_state(100), True)
        self.assertEqual(self.shim.state, "100")
        self.assertEqual(get_whole_life_state(), 100)
        self.shim.state = "set by module hai"
        self.assertEqual(get_whole_life_state(), 0)

    def test_suspend_through_both_ways_to_import_it(self):
        self.shim.suspend = True
        self.assertIs(hfai.client.receive_suspend_command(), True)
        self.assertIs(receive_suspend_command(timeout=1, raise_exception=True), True)

    def test_failing_to_keep_the_state_raises_unless_told_otherwise(self):
        self.shim.answers["set_whole_life_state"] = {"ok": False, "error": "no"}
        with self.assertRaises(Exception):
            set_whole_life_state(1)
        with mock.patch.object(sys, "stderr"):
            self.assertIs(set_whole_life_state(1, 500, False), False)

    def test_watchdog_answers_as_in_hai(self):
        self.assertEqual(hfai.client.set_watchdog_time(60)["success"], 1)
        self.assertEqual(self.shim.last("set_watchdog_time")["seconds"], 60)

    def test_environment_helpers(self):
        client = hfai.client
        self.assertEqual(
            (client.nb_name(), client.task_id(), client.rank(), client.node_name(),
             client.user_name()),
            ("llm", "42", 3, "node-7", "ann"))

    def test_what_the_platform_decides_is_accepted_without_effect(self):
        with mock.patch.object(sys, "stderr"):
            self.assertIs(hfai.client.set_priority(hfai.client.EXP_PRIORITY.HIGH), False)
            self.assertIs(hfai.client.disable_warn(hfai.client.WARN_TYPE.LOG), False)
        hfai.client.bind_hf_except_hook(object)
        self.assertEqual(self.shim.requests, [])

    def test_go_suspend_reports_and_waits(self):
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", "import hfai; hfai.client.go_suspend()"],
            env={**os.environ, "PYTHONPATH": paths.SDK})
        self.shim.wait_for("go_suspend")
        self.assertIsNone(process.poll())
        self.shim.vanish()
        self.assertEqual(process.wait(20), 85)


class OutsideHai(unittest.TestCase):
    def run_code(self, code, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("HAI_", "MARSV2_"))}
        return subprocess.run(
            [sys.executable, "-B", "-c", code],
            env={**clean, "PYTHONPATH": paths.SDK, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=20)

    def test_every_call_is_harmless_and_go_suspend_returns(self):
        done = self.run_code(
            "from hfai.client import *\n"
            "print(receive_suspend_command(), get_whole_life_state(), set_whole_life_state(1),"
            " set_watchdog_time(5)['success'], nb_name(), task_id(), rank(), node_name())\n"
            "go_suspend()\n"
            "print('went on')")
        self.assertEqual(done.stdout, "False 0 False 0 NO_CLUSTER -1 0 NAN_NODE\nwent on\n")
        self.assertEqual(done.returncode, 0)

    def test_simulation(self):
        done = self.run_code(
            "import hfai\n"
            "print(hfai.client.get_whole_life_state(), flush=True)\n"
            "hfai.client.go_suspend()\n"
            "print('went on')",
            HFAI_SIMULATE="1", MARSV2_WHOLE_LIFE_STATE="5")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("went on", done.stdout)
        self.assertTrue(done.stdout.startswith("5\n"))


if __name__ == "__main__":
    unittest.main()
