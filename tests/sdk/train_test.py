"""The sample job: whatever interrupts it, it ends with the same weights and the same curve."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import paths
from attempt import Attempt, free_port, lines_of

sys.path.insert(0, os.path.dirname(paths.TRAIN))
from charlm import peers as charlm_peers  # noqa: E402

STEPS = 60
RUN = (f"--steps {STEPS} --checkpoint-every 20 --shard-examples 3 --hidden 8 --print-every 20 "
       "--checkpoint-dir c --result result --loss-curve curve --ledger ledger")
SLOW = RUN + " --step-seconds 0.01"  # Slow enough to be interrupted in the middle.


class Train(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reference = cls.new_folder()
        cls.addClassCleanup(shutil.rmtree, cls.reference)
        attempt = Attempt(1, cls.reference, RUN)
        codes, outputs = attempt.finish()
        attempt.close()
        assert codes == [0], outputs
        cls.sha256 = cls.result_in(cls.reference)["sha256"]
        cls.curve = lines_of(os.path.join(cls.reference, "curve"))

    def setUp(self):
        self.folder = self.new_folder()
        self.addCleanup(shutil.rmtree, self.folder)

    @staticmethod
    def new_folder():
        return tempfile.mkdtemp(prefix="hai-train-")

    @staticmethod
    def result_in(folder):
        with open(os.path.join(folder, "result")) as file:
            return json.load(file)

    def start(self, world_size, arguments=RUN, number=1, before=None):
        attempt = Attempt(world_size, self.folder, arguments, number, before)
        self.addCleanup(attempt.close)
        return attempt

    def path(self, name):
        return os.path.join(self.folder, name)

    def ledger(self):
        return [json.loads(line) for line in lines_of(self.path("ledger"))]

    def expect_reference(self):
        self.assertEqual(self.result_in(self.folder)["sha256"], self.sha256)
        self.assertEqual(lines_of(self.path("curve")), self.curve)

    def test_it_learns_and_says_so(self):
        self.assertEqual([line.split()[0] for line in self.curve], [str(i) for i in range(STEPS)])
        losses = [float(line.split()[1]) for line in self.curve]
        self.assertLess(sum(losses[-5:]) / 5, sum(losses[:5]) / 5 - 0.3)

    def test_any_number_of_ranks_gives_the_same_weights(self):
        for world_size in (2, 3, 4):
            with self.subTest(world_size=world_size):
                shutil.rmtree(self.folder)
                os.mkdir(self.folder)
                codes, outputs = self.start(world_size).finish()
                self.assertEqual(codes, [0] * world_size, outputs)
                self.expect_reference()
                for output in outputs:
                    self.assertIn(f"final weights sha256={self.sha256}", output)

    def test_a_suspend_seen_by_one_rank_stops_all_at_one_step_and_loses_none(self):
        first = self.start(3, SLOW)
        first.wait_for_lines(self.path("curve"), 7)
        first.shims[2].suspend = True
        codes, _ = first.finish()
        self.assertEqual(codes, [-signal.SIGKILL] * 3)  # Ended by hai, not by themselves.
        report = first.shims[0].last("report_checkpoint")
        self.assertEqual(report["step"], len(lines_of(self.path("curve"))))
        self.assertTrue(os.path.isfile(report["path"]))
        self.assertEqual(first.reported_at_end, report)  # Nobody left before it was safe.
        ends = {line["step"] for line in self.ledger() if line["event"] == "suspend"}
        self.assertEqual(ends, {report["step"]})

        second = self.start(3, RUN, number=2, before=first)
        codes, outputs = second.finish()
        self.assertEqual(codes, [0] * 3, outputs)
        starts = [line["step"] for line in self.ledger() if
                  line["event"] == "start" and line["attempt"] == 2]
        self.assertEqual(starts, [report["step"]] * 3)
        self.assertEqual(second.shims[0].state, "2")  # Its second start, by whole-life state.
        self.expect_reference()

    def test_any_interruptions_give_the_same_weights_and_curve(self):
        for seed in (1, 2):
            with self.subTest(seed=seed):
                shutil.rmtree(self.folder)
                os.mkdir(self.folder)
                self.interrupt_at_random(random.Random(seed), interruptions=4)
                self.expect_reference()

    def interrupt_at_random(self, rng, interruptions):
        attempt = None
        for number in range(1, interruptions + 1):
            done = len(lines_of(self.path("curve")))
            attempt = self.start(2, SLOW, number, attempt)
            # The curve is cut back to the checkpoint first: wait for it to pass the mark from below.
            self.wait_for_starts(attempt, 2 * number)
            mark = min(STEPS - 20, done + rng.randrange(1, 15))
            attempt.wait_for_lines(self.path("curve"), mark)
            how = rng.choice(["suspend", "suspend", "kill all", "kill one"])
            if how == "suspend":
                rng.choice(attempt.shims).suspend = True
            for process in attempt.ranks if how == "kill all" else []:
                process.kill()
            if how == "kill one":
                rng.choice(attempt.ranks).kill()
            codes, outputs = attempt.finish()
            if codes == [0, 0]:
                break  # On a busy machine it may have been faster than we.
            self.assertNotIn(0, codes, outputs)
            self.assertEqual(attempt.suspended, how == "suspend", (how, outputs))
        codes, outputs = self.start(2, RUN, interruptions + 1, attempt).finish()
        self.assertEqual(codes, [0, 0], outputs)

    def wait_for_starts(self, attempt, count):
        deadline = time.monotonic() + 30
        while sum(line["event"] == "start" for line in self.ledger()) < count:
            self.assertLess(time.monotonic(), deadline, "ranks did not start in time")
            self.assertTrue(attempt.alive(), "ranks ended at the start")
            time.sleep(0.005)

    def test_a_rank_whose_peer_dies_exits_with_75(self):
        for victim in (0, 1):
            with self.subTest(victim=victim):
                attempt = self.start(3, SLOW, number=1 + victim)
                self.wait_for_starts(attempt, 3 * (1 + victim))
                attempt.ranks[victim].kill()
                codes, outputs = attempt.finish()
                expected = [75, 75, 75]
                expected[victim] = -signal.SIGKILL
                self.assertEqual(codes, expected, outputs)

    def test_bad_checkpoints_are_passed_over(self):
        self.start(1).finish()
        folder = self.path("c")
        names = sorted(os.listdir(folder))
        self.assertEqual(names, [f"step-{step:08d}.ckpt" for step in (20, 40, 60)])
        with open(os.path.join(folder, names[-1]), "r+b") as file:
            file.truncate(1000)
        with open(os.path.join(folder, names[-2]), "r+b") as file:
            file.seek(5000)
            file.write(b"!")
        os.unlink(self.path("result"))
        before = self.start(1, "--steps 0 --checkpoint-dir other")
        before.finish()
        before.shims[0].requests.append(
            {"op": "report_checkpoint", "path": os.path.join(folder, names[-1])})
        codes, outputs = self.start(1, number=2, before=before).finish()
        self.assertEqual(codes, [0])
        self.assertEqual(outputs[0].count("not used: damaged"), 3, outputs[0])
        self.assertIn("from step 20 ", outputs[0])
        self.expect_reference()

    def test_another_model_does_not_continue_from_this_one(self):
        self.start(1).finish()
        codes, outputs = self.start(1, RUN + " --seed 9").finish()
        self.assertEqual(codes, [0])
        self.assertIn("from step 0 ", outputs[0])
        self.assertNotEqual(self.result_in(self.folder)["sha256"], self.sha256)

    def test_a_finished_run_started_again_gives_the_same_result(self):
        first = self.start(2)
        first.finish()
        with open(self.path("result")) as file:
            before = file.read()
        os.unlink(self.path("result"))
        codes, _ = self.start(2, number=2, before=first).finish()
        self.assertEqual(codes, [0, 0])
        with open(self.path("result")) as file:
            self.assertEqual(file.read(), before)
        self.expect_reference()

    def test_it_runs_without_a_shim(self):
        first = self.start(1)
        first.shims[0].vanish()
        codes, outputs = first.finish()
        self.assertEqual(codes, [0], outputs)
        self.expect_reference()


class Peers(unittest.TestCase):
    def test_strangers_are_turned_away_and_the_attempt_meets(self):
        port = free_port()
        code = ("import sys; sys.path.insert(0, sys.argv[1])\n"
                "from charlm import peers\n"
                "found = peers.join(0, 2, '127.0.0.1', int(sys.argv[2]), 'job 1 attempt 2', 20, 20)\n"
                "print(found[0].name, found[0].receive()[1].decode())")
        rank0 = subprocess.Popen(
            [sys.executable, "-B", "-c", code, os.path.dirname(paths.TRAIN), str(port)],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(rank0.stdout.close)
        self.addCleanup(rank0.kill)
        self.knock(port, b"GET / HTTP/1.1\r\n\r\n")
        with self.assertRaisesRegex(charlm_peers.PeerLost, "job 1 attempt 2"):
            charlm_peers.join(1, 2, "127.0.0.1", port, "job 1 attempt 1", 2, 5)
        peer, = charlm_peers.join(1, 2, "127.0.0.1", port, "job 1 attempt 2", 20, 20)
        peer.send({}, b"hello")
        self.assertEqual(rank0.communicate(timeout=20)[0], "rank 1 hello\n")
        peer.close()

    def test_nobody_there_is_said_in_time(self):
        with self.assertRaisesRegex(charlm_peers.PeerLost, "gave up connecting to rank 0"):
            charlm_peers.join(1, 2, "127.0.0.1", free_port(), "x", 0.3, 1)
        with self.assertRaisesRegex(charlm_peers.PeerLost, r"waiting for ranks \[1, 2\]"):
            charlm_peers.join(0, 3, "127.0.0.1", free_port(), "x", 0.3, 1)

    def knock(self, port, data):
        deadline = time.monotonic() + 20
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=5) as stranger:
                    if stranger.getsockname() != stranger.getpeername():
                        stranger.sendall(data)
                        return
            except OSError:
                self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)


class SignalJob(unittest.TestCase):
    def test_the_signal_saves_and_the_next_start_goes_on(self):
        folder = tempfile.mkdtemp(prefix="hai-signal-")
        self.addCleanup(shutil.rmtree, folder)
        script = os.path.join(os.path.dirname(paths.TRAIN), "signal_job.sh")

        def start(count_to):
            return subprocess.Popen(["bash", script, str(count_to), "0.02"], cwd=folder, text=True,
                                    stdout=subprocess.PIPE)

        first = start(100000)
        for line in first.stdout:
            if line == "count 3\n":
                break
        first.send_signal(signal.SIGUSR1)
        rest = first.communicate(timeout=20)[0]
        self.assertEqual(first.returncode, 0)
        saved = int(rest.splitlines()[-1].split()[2].rstrip(","))
        self.assertGreaterEqual(saved, 3)
        second = start(saved + 2)
        out = second.communicate(timeout=20)[0].splitlines()
        self.assertEqual(out, [f"counting from {saved} to {saved + 2}", f"count {saved + 1}",
                               f"count {saved + 2}", "done"])


if __name__ == "__main__":
    unittest.main()
