"""Module hai against a fake shim: what it sends, and what it makes of every way to be answered."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import paths
from fake_shim import FakeShim

import hai
from hai import _channel, _job


class InJob(unittest.TestCase):
    def setUp(self):
        self.shim = FakeShim()
        self.addCleanup(self.shim.close)
        self.stderr = tempfile.TemporaryFile("w+")
        self.addCleanup(self.stderr.close)
        for patch in (
            mock.patch.dict(os.environ, HAI_SOCKET=self.shim.path),
            mock.patch.object(sys, "stderr", self.stderr),
            mock.patch.object(_job, "_no_poll_before", 0.0),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def said(self):
        self.stderr.seek(0)
        return self.stderr.read()

    def test_suspend_command_is_what_the_shim_says_now(self):
        self.assertIs(hai.receive_suspend_command(), False)
        self.shim.suspend = True
        self.assertIs(hai.receive_suspend_command(), True)
        self.shim.suspend = False  # Taken back.
        self.assertIs(hai.receive_suspend_command(), False)

    def test_all_calls_share_one_connection(self):
        for _ in range(50):
            hai.receive_suspend_command()
        hai.report_progress(1)
        self.assertEqual(self.shim.connections_made, 1)

    def test_reports_say_what_happened(self):
        self.assertTrue(hai.report_checkpoint(120, "relative/c.pt", 1.5))
        self.assertTrue(hai.report_progress(121))
        self.assertTrue(hai.report_metrics(loss=0.5, rate=1))
        self.assertTrue(hai.set_watchdog_time(60))
        self.assertEqual(
            self.shim.requests,
            [
                {"op": "report_checkpoint", "step": 120, "seconds": 1.5,
                 "path": os.path.abspath("relative/c.pt")},
                {"op": "report_progress", "step": 121},
                {"op": "report_metrics", "metrics": {"loss": 0.5, "rate": 1.0}},
                {"op": "set_watchdog_time", "seconds": 60},
            ],
        )

    def test_a_loss_that_is_no_number_is_left_out_and_said(self):
        self.assertTrue(hai.report_metrics(loss=float("nan"), rate=2))
        self.assertIn("loss is nan", self.said())
        self.assertFalse(hai.report_metrics(loss=float("inf")))
        self.assertEqual(self.shim.requests, [{"op": "report_metrics", "metrics": {"rate": 2.0}}])

    def test_whole_life_state_takes_int_and_str_and_gives_str(self):
        self.assertEqual(hai.get_whole_life_state(), "")
        self.assertTrue(hai.set_whole_life_state(7))
        self.assertEqual(hai.get_whole_life_state(), "7")
        self.assertTrue(hai.set_whole_life_state("epoch 3\n\"half\" é"))
        self.assertEqual(hai.get_whole_life_state(), "epoch 3\n\"half\" é")
        for wrong in (None, 1.5, True, [1]):
            with self.assertRaises(TypeError):
                hai.set_whole_life_state(wrong)

    def test_watchdog_time_must_be_positive(self):
        with self.assertRaises(ValueError):
            hai.set_watchdog_time(0)

    def test_a_refusal_keeps_the_connection_and_names_the_reason(self):
        self.shim.answers["report_progress"] = {"ok": False, "error": "step 1 is behind step 5"}
        self.shim.answers["set_whole_life_state"] = {"ok": False, "error": "9 bytes, 8 allowed"}
        self.assertFalse(hai.report_progress(1))
        self.assertIn("step 1 is behind step 5", self.said())
        with self.assertRaisesRegex(hai.Refused, "9 bytes, 8 allowed"):
            hai.set_whole_life_state("123456789")
        self.assertFalse(hai.receive_suspend_command())
        self.assertEqual(self.shim.connections_made, 1)

    def test_junk_answers_never_reach_the_program(self):
        junk = [
            b"not json\n", b"[]\n", b"{}\n", b"null\n", b"\xff\xfe\n", b'{"ok":1}\n', b"\n",
            b'{"ok":true}\n{"ok":true,"suspend":true}\n',  # Two answers to one request.
            b'{"ok":true,"suspend":tr', None,
        ]
        for answer in junk:
            with self.subTest(answer=answer), mock.patch.object(_channel, "TIMEOUT_SECONDS", 0.2), \
                    mock.patch.object(_job, "_no_poll_before", 0.0):
                self.shim.answers["receive_suspend_command"] = answer
                self.shim.answers["get_whole_life_state"] = answer
                self.assertIs(hai.receive_suspend_command(), False)
                with self.assertRaises(hai.Unreachable):
                    hai.get_whole_life_state()
                self.assertTrue(hai.report_progress(1))  # The next call works again.

    def test_a_suspend_that_is_not_a_boolean_is_no_suspend(self):
        self.shim.answers["receive_suspend_command"] = {"ok": True, "suspend": "false"}
        self.assertIs(hai.receive_suspend_command(), False)
        self.shim.answers["receive_suspend_command"] = {"ok": True}
        self.assertIs(hai.receive_suspend_command(), False)

    def test_an_endless_answer_is_cut_off(self):
        self.shim.answers["get_whole_life_state"] = b"x" * (_channel.LINE_BYTES_MAX + 1)
        with self.assertRaisesRegex(hai.Unreachable, "longer than"):
            hai.get_whole_life_state()

    def test_a_request_too_long_to_send_is_refused_here(self):
        with self.assertRaises(hai.Refused):
            hai.set_whole_life_state("x" * _channel.LINE_BYTES_MAX)
        self.assertEqual(self.shim.requests, [])

    def test_a_restarted_shim_is_found_again_without_a_word(self):
        self.assertTrue(hai.report_progress(1))
        self.shim.vanish()
        self.shim.listen()
        self.assertTrue(hai.report_progress(2))
        self.assertEqual(self.said(), "")

    def test_without_a_shim_polls_and_reports_go_on_and_warn_once(self):
        self.shim.vanish()
        for step in range(100):
            self.assertIs(hai.receive_suspend_command(), False)
            self.assertIs(hai.report_progress(step), False)
        self.assertEqual(self.said().count("\n"), 2, self.said())
        with self.assertRaises(hai.Unreachable):
            hai.get_whole_life_state()

    def test_a_hung_shim_slows_one_poll_only(self):
        self.shim.answers["receive_suspend_command"] = b""
        with mock.patch.object(_channel, "TIMEOUT_SECONDS", 0.1):
            started = time.monotonic()
            polls = [hai.receive_suspend_command() for _ in range(100)]
        self.assertEqual(polls, [False] * 100)
        self.assertLess(time.monotonic() - started, 5.0)
        self.assertEqual(self.shim.ops().count("receive_suspend_command"), 1)

    def test_threads_get_their_own_answers(self):
        failures = []

        def work(number):
            for i in range(50):
                if not hai.report_progress(number * 1000 + i):
                    failures.append((number, i))
                if hai.get_whole_life_state() != "s":
                    failures.append((number, i, "state"))

        self.shim.state = "s"
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        steps = [r["step"] for r in self.shim.requests if r["op"] == "report_progress"]
        self.assertEqual(sorted(steps), [n * 1000 + i for n in range(8) for i in range(50)])
        self.assertEqual(self.shim.connections_made, 1)

    def test_a_forked_child_has_its_own_connection(self):
        self.assertTrue(hai.report_progress(0))
        child = os.fork()
        if child == 0:
            ok = all(hai.report_progress(1000 + i) for i in range(50))
            os._exit(0 if ok and hai.get_whole_life_state() == "" else 1)
        ok = all(hai.report_progress(1 + i) for i in range(50))
        _, status = os.waitpid(child, 0)
        self.assertTrue(ok)
        self.assertEqual(status, 0)
        self.assertEqual(self.shim.connections_made, 2)

    def test_a_child_forked_while_a_thread_is_in_a_call_is_not_stuck(self):
        channel = _channel.current(self.shim.path)
        held, release = threading.Event(), threading.Event()

        def hold():
            with channel._lock:
                held.set()
                release.wait(10)

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait(10)
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            os._exit(0 if hai.report_progress(1) else 1)
        _, status = os.waitpid(child, 0)
        release.set()
        holder.join()
        self.assertEqual(status, 0)

    def test_a_signal_handler_may_call_in_the_middle_of_a_call(self):
        seen, states, real, signals = [], [], _channel._read_line, [signal.SIGUSR1]
        before = signal.signal(
            signal.SIGUSR1, lambda *_: seen.append(hai.report_checkpoint(5, "/c")))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)

        def interrupted(*arguments):
            if signals:
                os.kill(os.getpid(), signals.pop())
            return real(*arguments)

        self.shim.state = "s"
        with mock.patch.object(_channel, "_read_line", interrupted):
            states.append(hai.get_whole_life_state())
        self.assertEqual((seen, states), ([True], ["s"]))


class GoSuspend(unittest.TestCase):
    def setUp(self):
        self.shim = FakeShim()
        self.addCleanup(self.shim.close)

    def start(self, code, **environment):
        return subprocess.Popen(
            [sys.executable, "-B", "-c", code],
            env={**os.environ, "PYTHONPATH": paths.SDK, "HAI_SOCKET": self.shim.path,
                 **environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        out, _ = process.communicate(timeout=20)
        return process.returncode, out

    def test_it_waits_to_be_ended(self):
        process = self.start("import hai; print('saved'); hai.go_suspend(); print('returned')")
        self.shim.wait_for("go_suspend")
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.kill()
        code, out = self.finish(process)
        self.assertEqual((code, out), (-signal.SIGKILL, "saved\n"))

    def test_it_exits_85_when_the_socket_vanishes(self):
        process = self.start("import hai; hai.go_suspend()")
        self.shim.wait_for("go_suspend")
        self.shim.vanish()
        self.assertEqual(self.finish(process), (85, ""))

    def test_it_exits_with_the_job_s_own_code_where_that_is_known(self):
        self.shim.vanish()
        process = self.start("import hai; hai.go_suspend()", HAI_SUSPEND_EXIT_CODE="99")
        self.assertEqual(self.finish(process), (99, ""))

    def test_it_exits_85_when_refused(self):
        self.shim.answers["go_suspend"] = {"ok": False, "error": "no"}
        process = self.start("import hai; hai.go_suspend()")
        self.assertEqual(self.finish(process), (85, ""))

    def test_it_ends_the_process_from_any_thread_while_others_poll(self):
        process = self.start(
            "import hai, threading\n"
            "threading.Thread(target=hai.go_suspend).start()\n"
            "while True: hai.receive_suspend_command()")
        self.shim.wait_for("go_suspend")
        polls = len(self.shim.ops())
        deadline = time.monotonic() + 10
        while len(self.shim.ops()) < polls + 10 and time.monotonic() < deadline:
            time.sleep(0.005)
        self.assertGreaterEqual(len(self.shim.ops()), polls + 10)
        self.shim.vanish()
        self.assertEqual(self.finish(process)[0], 85)


class OutsideHai(unittest.TestCase):
    def run_code(self, code, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("HAI_", "MARSV2_"))}
        return subprocess.run(
            [sys.executable, "-B", "-c", code],
            env={**clean, "PYTHONPATH": paths.SDK, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=20)

    def test_every_call_is_harmless(self):
        done = self.run_code(
            "import hai\n"
            "print(hai.in_job(), hai.receive_suspend_command(), hai.report_checkpoint(1, 'x'),"
            " hai.report_progress(1), hai.report_metrics(loss=float('nan')),"
            " repr(hai.get_whole_life_state()),"
            " hai.set_whole_life_state(3), hai.set_watchdog_time(5))\n"
            "hai.go_suspend()")
        self.assertEqual(done.stdout, "False False False False False '' False False\n")
        self.assertEqual((done.returncode, done.stderr), (85, ""))

    def test_simulation_suspends_after_its_time(self):
        done = self.run_code(
            "import hai, time\n"
            "first, end = hai.receive_suspend_command(), time.monotonic() + 10\n"
            "while not hai.receive_suspend_command() and time.monotonic() < end: time.sleep(0.01)\n"
            "print(first, hai.receive_suspend_command(), hai.get_whole_life_state())",
            HFAI_SIMULATE="1", SIMULATE_SUSPEND="1", MARSV2_WHOLE_LIFE_STATE="4")
        self.assertEqual(done.stdout, "False True 4\n")


if __name__ == "__main__":
    unittest.main()
