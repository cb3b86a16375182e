"""`hai workspace`: a folder of a laptop on the cluster's storage and back. Here both are folders of one machine,
but only the nodes are asked for the one that is there."""

import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from cluster import ClusterTest, eventually, programs, said


class WorkspaceTest(ClusterTest):
    shape = {"name": "laptop", "nodes": 1}

    def setUp(self):
        self.here = self.cluster.root / f"laptop-{self.id().rsplit('.', 1)[1][:24]}"
        self.last_before = max((job["id"] for job in self.cluster.json("list", "-a")), default=0)
        self.there = self.cluster.work / "storage" / self.here.name
        (self.here / "data").mkdir(parents=True)
        (self.here / "train.sh").write_text("pwd; cat data/corpus; echo 7 >result\n")
        (self.here / "data" / "corpus").write_text("words\n" * 3)
        (self.here / "weights.bin").write_bytes(bytes(range(256)) * 4096)
        (self.here / "tool").write_text("#!/bin/sh\n")
        (self.here / "tool").chmod(0o755)
        (self.here / ".haiignore").write_text("*.tmp\n/secret\n")
        (self.here / "secret").write_text("stays here")
        (self.here / "x.tmp").write_text("stays here")

    def hai(self, *words):
        return self.cluster.hai(*words, cwd=self.here, seconds=120)

    def push(self, *words):
        done = self.hai("workspace", "push", *words)
        self.assertEqual(done.code, 0, done)
        return done

    def carriers(self):
        """The states of the jobs that have carried files in this test."""
        return [
            job["state"]
            for job in self.cluster.json("list", "-a")
            if job["name"].startswith("workspace-") and job["id"] > self.last_before
        ]

    def test_what_was_pushed_is_there_and_runs_there(self):
        done = self.push("--to", self.there)
        self.assertIn(f"{self.here} is {self.there} on the cluster", done.err)
        self.assertEqual((self.there / "weights.bin").read_bytes(), (self.here / "weights.bin").read_bytes())
        self.assertEqual((self.there / "tool").stat().st_mode & 0o777, 0o755)
        names = {path.name for path in self.there.rglob("*")}
        self.assertEqual(names & {"secret", "x.tmp", ".hai-workspace"}, set())
        self.assertEqual((self.here / ".hai-workspace").read_text(), f"{self.there}\n")
        eventually("nothing is held any more", lambda: self.carriers() == ["stopped"])

        ran = self.hai("bash", "train.sh", "--", "-n", "1", "--gpus", "1", "-f")
        self.assertEqual((ran.code, said(ran.out)), (0, f"{self.there}\n" + "words\n" * 3), ran)
        # Results come back, and nothing else changes: what was edited here since stays.
        edited = self.here / "train.sh"
        edited.write_text(edited.read_text() + "# better\n")
        later = edited.stat().st_mtime + 10
        os.utime(edited, (later, later))
        back = self.hai("workspace", "pull")
        self.assertEqual(back.code, 0, back)
        self.assertEqual((self.here / "result").read_text(), "7\n")
        self.assertIn("# better", edited.read_text())
        self.assertEqual((self.here / "secret").read_text(), "stays here")

    def test_a_huge_folder_is_refused_before_anything_runs(self):
        with open(self.here / "checkpoint.pt", "wb") as file:
            file.truncate(100 << 30)  # takes no room here, and 100 GiB there
        done = self.hai("workspace", "push", "--to", self.there)
        self.assertEqual((done.code, done.err.count("\n")), (4, 1), done)
        self.assertIn(f"{self.here} has 100.0 GiB to copy, at most 50.0 GiB", done.err)
        self.assertFalse(self.there.exists(), "nothing is left there")
        self.assertFalse((self.here / ".hai-workspace").exists())
        self.assertEqual(self.carriers(), [], "no job was begun for it")
        # What is left out does not count; what comes later is counted as what it adds.
        (self.here / ".haiignore").write_text("*.pt\n/secret\n*.tmp\n")
        self.push("--to", self.there)
        (self.here / ".haiignore").write_text("/secret\n*.tmp\n")
        self.assertEqual(self.hai("workspace", "push").code, 4)
        self.assertFalse((self.there / "checkpoint.pt").exists())

    def test_what_does_not_fit_there_is_not_begun(self):
        room = os.statvfs("/dev/shm")
        free = room.f_bavail * room.f_frsize
        if not 0 < free < 40 << 30:
            self.skipTest("needs a /dev/shm with less than 40 GiB free")
        there = pathlib.Path("/dev/shm") / f"hai-{os.getpid()}" / "llm"
        self.addCleanup(shutil.rmtree, there.parent, True)
        with open(self.here / "data" / "big", "wb") as file:
            file.truncate(free + (1 << 30))
        done = self.hai("workspace", "push", "--to", there)
        self.assertEqual(done.code, 4, done)
        self.assertRegex(done.err, f"GiB to copy, but {there} has .* GiB free: nothing was copied")
        self.assertFalse(there.parent.exists(), "not even its folder")
        eventually("the job that carried ends", lambda: self.carriers() == ["stopped"])

    def test_only_what_has_changed_goes_and_a_diff_says_what(self):
        self.push("--to", self.there)
        (self.here / "data" / "corpus").write_text("other words\n")
        (self.here / "tool").unlink()
        shown = self.hai("workspace", "diff", "--delete")
        self.assertEqual(shown.code, 0, shown)
        changed = {line.split(None, 1)[1] for line in shown.out.splitlines() if not line.endswith("/")}
        self.assertEqual(changed, {"data/corpus", "tool"}, shown.out)
        self.assertEqual((self.there / "data" / "corpus").read_text(), "words\n" * 3, "a diff changes nothing")
        self.push()
        self.assertEqual((self.there / "data" / "corpus").read_text(), "other words\n")
        self.assertTrue((self.there / "tool").exists(), "deleted only if that is asked")
        self.push("--delete")
        self.assertFalse((self.there / "tool").exists())

    def test_a_job_that_runs_may_carry_it(self):
        job = self.cluster.exec("sleep 600", "-n", "1", "--gpus", "1")
        self.cluster.wait_running(job)
        before = len(self.carriers())
        self.push("--to", self.there, "--job", job)
        self.assertEqual(len(self.carriers()), before)
        self.assertEqual(self.cluster.job(job)["state"], "running", "and goes on")
        self.assertTrue((self.there / "train.sh").exists())
        self.cluster.ok("stop", job)

    def test_a_laptop_that_was_closed_holds_nothing_for_long(self):
        # An rsync that never speaks: the job runs, and then nobody is there any more.
        rsync = shutil.which("rsync")
        (self.here / "rsync").write_text(
            f'#!/bin/sh\ncase "$*" in *--stats*) exec {rsync} "$@" ;; esac\nexec sleep 600\n'
        )
        (self.here / "rsync").chmod(0o755)
        hai = subprocess.Popen(
            [programs() / "hai", "workspace", "push", "--to", str(self.there)],
            cwd=self.here,
            env=self.cluster.environment(PATH=f"{self.here}:{os.environ['PATH']}"),
            start_new_session=True,
        )
        self.addCleanup(hai.wait)
        try:
            eventually("the job that carries runs", lambda: self.carriers() == ["running"])
        finally:
            os.killpg(hai.pid, signal.SIGKILL)
        eventually("it ends by itself", lambda: self.carriers() == ["succeeded"], 60)

    def test_bad_input_carries_nothing(self):
        before = len(self.carriers())
        for words, code, why in (
            (("push",), 2, "was not pushed yet: say where to, with --to"),
            (("push", "--to", "llm"), 2, "must be an absolute path"),
            (("push", "--to", "/"), 2, "must be an absolute path"),
            (("push", "nowhere", "--to", "/data/x"), 3, "there is no folder nowhere"),
            (("push", "--to", self.there, "-g", "absent"), 4, "absent"),
        ):
            done = self.hai("workspace", *words)
            self.assertEqual((done.code, done.out), (code, ""), done)
            self.assertIn(why, done.err)
        self.assertEqual(len(self.carriers()), before)
        denied = self.hai("workspace", "push", "--to", "/proc/nothing/here")
        self.assertEqual((denied.code, denied.out.count("\n") < 8), (4, True), denied)
        self.assertIn("rsync ended with code", denied.err)
        self.assertFalse((self.here / ".hai-workspace").exists())


if __name__ == "__main__":
    unittest.main()
