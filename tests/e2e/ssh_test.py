"""Logging in to a node: only while a job of one's own runs there, and as a part of it (hai-pam,
docs/operations/ssh.md). A real sshd, and jobs of two Unix users."""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import threading
import unittest

import sshd
from cluster import ClusterTest, eventually, programs
from hostile_rank_test import usable_device

ANN, BOB, ADMIN = "nobody", "daemon", "games"  # users that every Debian machine has
SETTINGS = f"""\
isolation: strict
confinement: {{system_users: [{ANN}, {BOB}]}}
login: {{admin_users: [{ADMIN}]}}
"""


def groups_of(text):
    """Of /proc/PID/cgroup the lines of groups that hai has made."""
    return sorted(line for line in text.splitlines() if ":/hai/" in line)


def is_alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


class SshTest(ClusterTest):
    shape = {"name": "ssh", "nodes": 1}

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("not root: no sshd for several users, no control groups")
        if sshd.missing():
            raise unittest.SkipTest(sshd.missing())
        folder = tempfile.mkdtemp(prefix="hai-e2e-ssh-")
        cls.addClassCleanup(shutil.rmtree, folder)
        settings = pathlib.Path(folder) / "settings.yaml"
        settings.write_text(SETTINGS)
        cls.up_options = ("--agent-config", f"node-1={settings}")
        super().setUpClass()
        cls.config = cls.cluster.data / "nodes" / "node-1" / "agent.yaml"
        cls.sshd = sshd.Sshd(cls.cluster.root / "sshd", cls.config, (ANN, BOB, ADMIN))
        cls.addClassCleanup(cls.sshd.close)

    def run(self, result=None):
        super().run(result)
        if result and not result.wasSuccessful():
            print(f"--- sshd.log\n{self.sshd.log.read_text()[-4000:]}")

    def start_job(self, user, name, gpus=2):
        """A job that runs until end_job(); its id, and its control groups."""
        fifo = self.cluster.work / f"{name}.fifo"
        if not fifo.exists():
            os.mkfifo(fifo)
            fifo.chmod(0o666)
        script = f"cat /proc/self/cgroup; echo pid $$; exec cat {fifo}"
        self.cluster.file(f"{name}.sh", script)
        job = self.cluster.run_as(user, self.cluster.spec(name, f"{name}.sh", gpus=gpus))
        self.cluster.wait_running(job)
        log = eventually("the job has said where it is", lambda: self.said_all(job))
        groups = groups_of(log)
        if not groups:
            self.skipTest("this machine has no control groups to use")
        return job, groups

    def said_all(self, job):
        log = self.cluster.log(job)
        return log if "pid " in log else ""

    def end_job(self, job, name):
        (self.cluster.work / f"{name}.fifo").open("w").close()
        self.cluster.wait_end(job)

    def start_login(self, user, command):
        """A login that stays, and what its command said first."""
        login = self.sshd.start(user, command)
        self.addCleanup(login.communicate)
        self.addCleanup(login.kill)
        return login, login.stdout.readline().strip()

    def assert_refused(self, user, sentence):
        done = self.sshd.ssh(user, "echo in")
        self.assertEqual((done.returncode, done.stdout), (255, ""), done.stderr)
        self.assertIn(f"hai: {sentence}", done.stderr)

    def test_nobody_comes_in_without_a_job(self):
        self.assert_refused(ANN, f"no login to node-1: no job of {ANN} runs there")

    def test_a_login_is_part_of_the_job_and_ends_with_it(self):
        job, groups = self.start_job(ANN, "ann")
        done = self.sshd.ssh(ANN, "cat /proc/self/cgroup")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(groups_of(done.stdout), groups)
        # One that stays, with a child that left its session, and both deaf to polite signals.
        deaf = "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; echo $$ $PPID; while :; do sleep 1; done'"
        login, pids = self.start_login(ANN, f"{deaf} & wait")
        self.assertTrue(all(is_alive(int(pid)) for pid in pids.split()), pids)
        self.end_job(job, "ann")
        # When the job has ended they are gone, and not only some time later.
        self.assertEqual([pid for pid in pids.split() if is_alive(int(pid))], [])
        self.assertNotEqual(login.wait(timeout=30), 0)
        for line in groups:
            path = line.split(":", 2)[2]
            left = [str(found) for found in pathlib.Path("/sys/fs/cgroup").glob(f"*{path}")]
            self.assertEqual(left, [])
        self.assert_refused(ANN, f"no login to node-1: no job of {ANN} runs there")

    def test_a_stopped_job_takes_its_logins_with_it(self):
        job, _ = self.start_job(ANN, "stopped")
        login, pid = self.start_login(ANN, "echo $$; exec sleep 600")
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")
        self.assertFalse(is_alive(int(pid)))
        self.assertNotEqual(login.wait(timeout=30), 0)

    def log_in_until(self, user, ended, at_once=4):
        """Logins that stay, in place of each that ends another one."""
        while not ended.is_set():
            logins = [self.sshd.start(user, "exec sleep 600") for _ in range(at_once)]
            for login in logins:
                while login.poll() is None and not ended.wait(0.02):
                    pass
                login.kill()
                login.communicate()

    def test_logging_in_again_and_again_does_not_keep_a_job(self):
        job, groups = self.start_job(ANN, "kept")
        ended = threading.Event()
        stubborn = [threading.Thread(target=self.log_in_until, args=(ANN, ended)) for _ in range(2)]
        for thread in stubborn:
            thread.start()
        try:
            path = groups[0].split(":", 2)[2]
            group = next(pathlib.Path("/sys/fs/cgroup").glob(f"*{path}"))
            alone = len((group / "cgroup.procs").read_text().split())
            eventually(
                "logins are part of the job",
                lambda: len((group / "cgroup.procs").read_text().split()) > alone + 2,
            )
            self.cluster.ok("stop", job)
            self.cluster.wait_end(job, "stopped")
        finally:
            ended.set()
            for thread in stubborn:
                thread.join()
        left = [found for found in pathlib.Path("/sys/fs/cgroup").glob(f"*{path}")]
        self.assertEqual(left, [])
        self.assert_refused(ANN, f"no login to node-1: no job of {ANN} runs there")

    def test_a_job_of_somebody_else_lets_nobody_in(self):
        job, groups = self.start_job(BOB, "bob")
        self.assert_refused(ANN, f"no login to node-1: no job of {ANN} runs there")
        done = self.sshd.ssh(BOB, "id -un; cat /proc/self/cgroup")
        self.assertEqual(done.stdout.splitlines()[0], BOB)
        self.assertEqual(groups_of(done.stdout), groups)
        self.end_job(job, "bob")

    def test_of_several_jobs_it_is_the_one_launched_last(self):
        first, first_groups = self.start_job(ANN, "first")
        last, last_groups = self.start_job(ANN, "last")
        self.assertNotEqual(first_groups, last_groups)
        login, said = self.start_login(ANN, "echo $$; exec sleep 600")
        groups = groups_of(pathlib.Path(f"/proc/{said}/cgroup").read_text())
        self.assertEqual(groups, last_groups)
        self.end_job(last, "last")
        self.assertFalse(is_alive(int(said)))
        self.assertNotEqual(login.wait(timeout=30), 0)
        done = self.sshd.ssh(ANN, "cat /proc/self/cgroup")
        self.assertEqual(groups_of(done.stdout), first_groups)
        self.end_job(first, "first")

    def test_root_and_administrators_need_no_job(self):
        job, _ = self.start_job(ANN, "beside")
        for user in ("root", ADMIN):
            done = self.sshd.ssh(user, "id -un; cat /proc/self/cgroup")
            self.assertEqual(done.stdout.splitlines()[0], user, done.stderr)
            self.assertEqual(groups_of(done.stdout), [])
        self.end_job(job, "beside")

    def test_the_agent_need_not_run(self):
        job, groups = self.start_job(ANN, "alone")
        self.cluster.kill("agent:node-1")
        done = self.sshd.ssh(ANN, "cat /proc/self/cgroup")
        self.assertEqual(groups_of(done.stdout), groups, done.stderr)
        self.assert_refused(BOB, f"no login to node-1: no job of {BOB} runs there")
        self.cluster.start("agent:node-1")
        self.cluster.wait_node("node-1")
        self.end_job(job, "alone")

    def test_it_has_the_devices_of_the_job(self):
        found = usable_device()
        if not found:
            self.skipTest("no device that everybody may open by its mode, and a rank may not")
        device = self.cluster.work / "device"
        os.mknod(device, stat.S_IFCHR | 0o666, found)
        device.chmod(0o666)
        job, _ = self.start_job(ANN, "devices")
        opens = f"true < {device}"
        self.assertEqual(self.sshd.ssh(ADMIN, opens).returncode, 0)
        done = self.sshd.ssh(ANN, opens)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Operation not permitted", done.stderr)
        self.end_job(job, "devices")

    def test_root_comes_in_where_hai_pam_is_missing(self):
        job, _ = self.start_job(ANN, "missing")
        absent = self.cluster.root / "absent" / "hai-pam"
        node = sshd.Sshd(self.cluster.root / "sshd-missing", self.config, (ANN, ADMIN), absent)
        self.addCleanup(node.close)
        done = node.ssh("root", "id -un")
        self.assertEqual((done.returncode, done.stdout), (0, "root\n"), done.stderr)
        for user in (ANN, ADMIN):
            done = node.ssh(user, "echo in")
            self.assertEqual((done.returncode, done.stdout), (255, ""), done.stderr)
        self.end_job(job, "missing")

    def test_a_rank_that_a_user_has_forged_lets_nobody_in(self):
        job, _ = self.start_job(ANN, "forged")
        data = self.cluster.root / "forged"
        shutil.copytree(
            self.config.parent / "ranks", data / "ranks", ignore=shutil.ignore_patterns("*.sock")
        )
        config = self.cluster.file("forged.yaml", f"data_dir: {data}\nservers: [localhost:1]\ntoken_file: /none\n{SETTINGS}")
        self.assertEqual(self.ask("account", ANN, config), (0, ""))
        os.chown(next((data / "ranks").glob(f"{job}.*")) / "launch.json", 1, -1)
        self.assertEqual(self.ask("account", ANN, config)[0], 1)
        os.chown(data, 1, -1)
        code, said = self.ask("account", ANN, config)
        self.assertEqual(code, 1)
        self.assertIn("could not be read in a way that can be trusted", said)
        self.assertEqual(self.ask("account", ADMIN, config), (0, ""))
        self.end_job(job, "forged")

    def ask(self, phase, user, config=None):
        """hai-pam as pam_exec runs it: its exit code, and what it says to the user."""
        done = subprocess.run(
            [str(programs() / "hai-pam"), "--config", str(config or self.config)],
            env={"PAM_TYPE": phase, "PAM_USER": user},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout

    def test_where_the_config_cannot_be_read_only_root_comes_in(self):
        broken = self.cluster.file("broken.yaml", "login: {admin_user: [games]}\n")
        for config in (broken, self.cluster.root / "absent.yaml"):
            self.assertEqual(self.ask("account", "root", config), (0, ""))
            for user in (ANN, ADMIN):
                code, said = self.ask("account", user, config)
                self.assertEqual(code, 1)
                self.assertIn("hai: no login: the config of this node's agent cannot be read", said)

    def test_it_answers_only_what_pam_asks_for_accounts_and_sessions(self):
        self.assertEqual(self.ask("close_session", ANN), (0, ""))
        for phase in ("auth", "password", ""):
            self.assertEqual(self.ask(phase, "root"), (2, ""))
        self.assertEqual(self.ask("account", ""), (2, ""))
        code, said = self.ask("account", "no-such-user")
        self.assertEqual((code, said), (1, "hai: this node does not know your account\n"))


if __name__ == "__main__":
    unittest.main()
