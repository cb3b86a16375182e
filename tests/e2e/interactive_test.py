"""Interactive jobs: `hai exec --pty` and `srun --pty` give a program of the job this terminal, for as long
as it runs and no longer."""

import json
import subprocess
import unittest

from cluster import ClusterTest, eventually, programs
from terminal import Terminal


class InteractiveTest(ClusterTest):
    shape = {"name": "interactive", "nodes": 2}

    def terminal(self, *words):
        terminal = Terminal(
            list(map(str, words)), self.cluster.environment(TERM="dumb"), cwd=self.cluster.work
        )
        self.addCleanup(terminal.close)
        return terminal

    def hai(self, *words):
        return self.terminal(programs() / "hai", *words)

    def shell(self, name, *options):
        return self.hai("exec", "env", "PS1=type: ", "sh", "--", "--pty", "-n", "1", "--name", name, *options)

    def test_a_program_has_the_terminal_and_its_code_is_the_jobs(self):
        terminal = self.shell("mine")
        terminal.see("type:")
        job = self.cluster.job("mine")
        self.assertEqual(job["state"], "running")
        terminal.type("tty >/dev/null && echo job $HAI_JOB_ID $(pwd)\n")
        terminal.see(f"job {job['id']} {self.cluster.work}")
        # One process says so and sleeps: between two the keys would be the shell's, which goes on.
        terminal.type("sh -c 'echo be\"\"gun; exec sleep 100'\n")
        terminal.see("begun")
        terminal.type("\x03")  # is the program's, and ends neither hai nor the job
        terminal.type("echo goes $((40 + 2)) on\n")
        terminal.see("goes 42 on")
        terminal.type("exit 7\n")
        self.assertEqual(terminal.end(), 7)
        self.assertEqual(self.cluster.hai("wait", job["id"], "--timeout", "30s").code, 7)

    def test_the_job_ends_with_its_terminal_whatever_becomes_of_it(self):
        terminal = self.shell("lost")
        terminal.see("type:")
        terminal.type("nohup sleep 500 >/dev/null 2>&1 & echo le\"\"ft\n")  # not even this keeps it
        terminal.see("left")
        terminal.process.kill()  # the laptop is closed
        self.assertNotEqual(self.cluster.hai("wait", "lost", "--timeout", "60s", seconds=90).code, 0)
        self.assertEqual(self.cluster.job("lost")["state"], "failed")

    def test_who_leaves_it_is_told_that_the_job_ends(self):
        terminal = self.shell("left")
        terminal.see("type:")
        terminal.type("\n~.")
        terminal.see("which ends with its terminal")
        self.assertEqual(terminal.end(), 130)
        self.assertNotEqual(self.cluster.hai("wait", "left", "--timeout", "30s").code, 0)

    def slurm(self, *words):
        return self.terminal(programs() / "hai-slurm", *words)

    def test_salloc_has_a_shell_with_all_nodes_of_its_job(self):
        terminal = self.slurm("salloc", "-J", "alloc", "-N2", "--gpus-per-node=1", "env", "PS1=type: ", "sh")
        terminal.see("salloc: Pending job allocation")
        terminal.see("type:")
        job = self.cluster.job("alloc")
        self.assertEqual((job["state"], len(job["nodes"])), ("running", 2))
        terminal.type("echo nodes $SLURM_JOB_NUM_NODES of $SLURM_JOB_ID in $(basename $PWD) on $SLURMD_NODENAME\n")
        terminal.see(f"nodes 2 of {job['id']} in work on {job['nodes'][0]}")
        terminal.type("srun -N2 -n2 sh -c 'echo task $SLURM_PROCID on $SLURMD_NODENAME with $CUDA_VISIBLE_DEVICES' | sort\n")
        for rank in (0, 1):
            terminal.see(f"task {rank} on {job['nodes'][rank]} with ")
        terminal.type("echo \"<$JOB_TERMINAL_PIPE$JOB_TERMINAL_VARIABLES>\" $TERM\n")
        terminal.see("<> dumb")
        terminal.type("srun --pty -n2 hostname\n")
        terminal.see("--pty is for one task")
        terminal.type("stty rows 33 columns 77; srun --pty -w " + job["nodes"][1] + " env 'PS1=inner: ' sh\n")
        terminal.see("inner:")
        terminal.type("stty size; echo on $SLURMD_NODENAME as $SLURM_PROCID of $SLURM_NTASKS in $(tty | cut -d/ -f1-3)\n")
        terminal.see("33 77", f"on {job['nodes'][1]} as 0 of 1 in /dev/pts")
        terminal.type("sh -c 'echo be\"\"gun; exec sleep 1000'\n")
        terminal.see("begun")
        terminal.type("\x03")
        terminal.type("echo goes $((40 + 2)) on; exit 6\n")
        terminal.see("goes 42 on")
        terminal.see("Exited with exit code 6")
        terminal.type("echo code $?; srun --pty sh -c 'kill -TERM $$'; echo code $?\n")
        terminal.see("code 6", "code 143")
        terminal.type("exit 5\n")
        terminal.see(f"salloc: Relinquishing job allocation {job['id']}")
        self.assertEqual(terminal.end(), 5)
        self.assertEqual(self.cluster.hai("wait", job["id"], "--timeout", "30s").code, 5)

    def test_salloc_runs_one_program_and_takes_the_variables(self):
        terminal = self.terminal(
            "env", "SALLOC_GPUS_PER_NODE=2", programs() / "hai-slurm", "salloc", "-N1", "sh", "-c",
            "echo has $SLURM_GPUS_ON_NODE; exit 4",
        )
        terminal.see("has 2")
        self.assertEqual(terminal.end(), 4)

    def test_what_salloc_cannot_do_is_one_line(self):
        before = len(self.cluster.json("list"))
        for words, said in (
            (("--no-shell",), "hai shell JOB"),
            (("-N", "0"), "nodes"),
            (("--immediate",), "hai whatif"),
            (("-N", "3"), "3"),
        ):
            with self.subTest(words=words):
                terminal = self.slurm("salloc", *words)
                terminal.see(said)
                self.assertNotEqual(terminal.end(), 0)
        done = subprocess.run(
            [str(programs() / "hai-slurm"), "salloc", "-N1"], env=self.cluster.environment(),
            cwd=self.cluster.work, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
        )
        self.assertIn("salloc: error: this is no terminal: sbatch and srun work without one", done.stderr)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(self.cluster.json("list")), before)

    def test_one_to_whom_nobody_comes_ends(self):
        blocker = self.cluster.run(self.cluster.spec("first", "/bin/sleep", "600", nodes=2))
        self.cluster.wait_running(blocker)
        terminal = self.shell("alone")
        terminal.see("first in the queue")
        terminal.type("\x03")
        terminal.see("ends soon after it has begun")
        self.assertEqual(terminal.end(), 130)
        self.cluster.hai("stop", blocker)
        self.cluster.hai("wait", "alone", "--timeout", "90s", seconds=120)
        self.assertEqual(self.cluster.job("alone")["state"], "failed")
        self.assertIn("nobody opened its terminal", self.cluster.hai("logs", "alone").out)

    def test_one_that_is_suspended_begins_anew(self):
        terminal = self.shell("moved", "--grace", "2s")
        terminal.see("type:")
        terminal.type("echo first\n")
        terminal.see("first")
        self.assertEqual(self.cluster.hai("suspend", "moved").code, 0)
        terminal.see("it begins anew", seconds=60)
        self.assertEqual(self.cluster.hai("resume", "moved").code, 0)
        terminal.until("a prompt after that", lambda seen: "type:" in seen.split("anew")[-1], 60)
        eventually("it runs again", lambda: self.cluster.job("moved")["state"] == "running")
        terminal.type("echo attempt $HAI_ATTEMPT; exit 0\n")
        terminal.see("attempt 2")
        self.assertEqual(terminal.end(), 0)

    def test_it_says_what_it_waits_for(self):
        blocker = self.cluster.run(self.cluster.spec("blocker", "/bin/sleep", "600", nodes=2))
        self.cluster.wait_running(blocker)
        terminal = self.shell("later", "-p", "low")
        terminal.see("first in the queue")
        self.cluster.hai("stop", blocker)
        terminal.see("type:", seconds=60)
        terminal.type("exit\n")
        self.assertEqual(terminal.end(), 0)

    def test_one_makes_room_for_nobody_as_far_as_the_site_has_nodes_for_it(self):
        terminal = self.shell("none", "--interactive")
        terminal.see("this cluster has no interactive nodes")
        self.assertEqual(terminal.end(), 4)
        self.cluster.ok("knob", "set", "interactive_nodes", "1", "--reason", "to see")
        kept = self.shell("kept", "--interactive", "-p", "low")
        kept.see("type:")
        terminal = self.terminal(programs() / "slurm" / "srun", "--pty", "-q", "interactive", "true")
        terminal.see("has 1 of 1 interactive nodes")
        self.assertEqual(terminal.end(), 4)
        other = self.cluster.run(self.cluster.spec("urgent", "/bin/sleep", "600", nodes=2, priority="extreme_high"))
        eventually("it says why it waits", lambda: "is interactive: it makes room for nobody" in self.cluster.ok("why", other))
        kept.type("echo still $((40 + 2)) here; exit 0\n")
        kept.see("still 42 here")
        self.assertEqual(kept.end(), 0)
        self.cluster.wait_running(other)
        self.cluster.ok("stop", other)
        self.cluster.ok("knob", "unset", "interactive_nodes", "--reason", "enough")

    def test_srun_gives_it_too(self):
        script = "echo $SLURM_JOB_NAME; tty; exit 3"
        terminal = self.terminal(programs() / "slurm" / "srun", "--pty", "-N1", "-J", "named", "sh", "-c", script)
        terminal.see("named", "/dev/pts/")
        self.assertEqual(terminal.end(), 3)
        terminal = self.terminal(programs() / "slurm" / "srun", "--pty", "-n4", "true")
        terminal.see("--pty is for one task")
        self.assertEqual(terminal.end(), 2)

    def test_a_job_file_gives_its_program_the_terminal(self):
        for name, text in (
            ("asks.py", "import os, sys; print(sys.argv[1:], os.ttyname(0), input('word? '))"),
            ("asks.sh", 'tty; read -p "word? " word; echo "$1 $word"'),
            ("asks", '#!/bin/sh\ntty; printf "word? "; read word; echo "$1 $word"\n'),
        ):
            with self.subTest(name):
                self.cluster.file(name, text)
                spec = self.cluster.spec("by-file", name, "'a b'")
                job_file = self.cluster.file("terminal.yml", json.dumps(spec))
                terminal = self.hai("run", job_file, "--pty")
                terminal.see("word?")
                terminal.type("this one\n")
                terminal.see("a b", "this one", "/dev/pts/")
                self.assertEqual(terminal.end(), 0)
                self.cluster.wait_end("by-file")
        two = self.cluster.file("two.yml", json.dumps(self.cluster.spec("two", "asks", nodes=2)))
        terminal = self.hai("run", two, "--pty")
        terminal.see("a terminal is for a job of one node")
        self.assertEqual(terminal.end(), 2)

    def test_what_cannot_be(self):
        before = len(self.cluster.json("list"))
        for words, said in (
            (("exec", "sh", "--", "--pty", "-n", "2"), "a terminal is for a job of one node"),
            (("exec", "sh", "--", "--pty", "--array", "0-3"), "a terminal is for a job of one node"),
            (("exec", "sh", "--", "--pty", "--launch", "nowhere"), "nowhere"),
            (("exec", "no-such-program", "--", "--pty"), "no such program"),
        ):
            with self.subTest(words=words):
                terminal = self.hai(*words)
                terminal.see(said)
                self.assertNotEqual(terminal.end(), 0)
        done = self.cluster.hai("exec", "sh", "--", "--pty", "-n", "1", stdin="")
        self.assertIn("--pty: this is no terminal", done.err)
        self.assertEqual(done.code, 2)
        self.assertEqual(len(self.cluster.json("list")), before)


if __name__ == "__main__":
    unittest.main()
