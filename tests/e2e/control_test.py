"""What people do to jobs and nodes while they run: stop, suspend, resume, hold, drain, quotas."""

import json
import os
import resource
import unittest

from cluster import EXAMPLES, HERE, SDK, ClusterTest, eventually
from training import is_alive

PROGRAMS = HERE / "programs"


class ControlTest(ClusterTest):
    shape = {"name": "control", "nodes": 2}

    def start_saver(self, name, nodes=1, **more):
        folder = self.cluster.work / name
        folder.mkdir()
        spec = self.cluster.spec(
            name,
            PROGRAMS / "saver.py",
            str(folder),
            nodes=nodes,
            environments={"SDK": str(SDK)},
            **more,
        )
        job = self.cluster.run(spec)
        self.cluster.wait_running(job)
        return job, folder

    def logged(self, job, text, *options):
        eventually(
            f"job {job} logs {text!r}", lambda: text in self.cluster.hai("logs", job, *options).out
        )

    # -- stop

    def test_stop_ends_the_whole_process_tree(self):
        pids_file = self.cluster.work / "family.json"
        job = self.cluster.run(self.cluster.spec("family", PROGRAMS / "family.py", str(pids_file)))
        pids = json.loads(
            eventually(
                "the family is complete", lambda: pids_file.exists() and pids_file.read_text()
            )
        )
        for name, pid in pids.items():
            self.assertTrue(is_alive(pid), name)
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")
        for name, pid in pids.items():
            self.assertFalse(is_alive(pid), f"{name} outlived its job")

    def test_a_rank_that_ends_leaves_nobody_behind(self):
        pids_file = self.cluster.work / "orphan.pid"
        job = self.cluster.exec(f"setsid sleep 600 & echo $! > {pids_file}; wait 0; exit 0")
        self.cluster.wait_end(job)
        self.assertFalse(is_alive(int(pids_file.read_text())))

    def test_stopping_twice_or_a_waiting_job_is_no_error(self):
        job = self.cluster.exec("true", "--begin-at", "2099-01-01T00:00:00Z")
        self.cluster.ok("stop", job)
        self.assertEqual(self.cluster.job(job)["state"], "stopped")
        self.cluster.ok("stop", job)

    # -- what the job file says to the program

    def test_core_dumps_are_as_large_as_the_job_file_says(self):
        script = "import resource; print('core', *resource.getrlimit(resource.RLIMIT_CORE))"
        highest = resource.getrlimit(resource.RLIMIT_CORE)[1]
        for number, (size, wanted) in enumerate(
            ((None, 0), ("64Mi", 64 << 20), ("unlimited", resource.RLIM_INFINITY))
        ):
            spec = self.cluster.spec(f"core-{number}", "python3", f'-c "{script}"')
            if size:
                spec["options"]["core_size"] = size
            job = self.cluster.run(spec)
            self.cluster.wait_end(job, "succeeded")
            if highest != resource.RLIM_INFINITY and os.geteuid() != 0:
                wanted = highest if wanted == resource.RLIM_INFINITY else min(wanted, highest)
            self.assertIn(f"core {wanted} ", self.cluster.log(job))

    # -- suspend and resume

    def test_suspend_by_the_sdk_and_resume(self):
        job, folder = self.start_saver("by-sdk", nodes=2)
        self.logged(job, "start 1, attempt 1, checkpoint none")
        self.cluster.ok("suspend", job)
        now = self.cluster.wait_state(job, "suspended")
        self.assertEqual((now["held"], now["suspend_count"], now["nodes"]), (True, 1, []))
        self.assertEqual(now["checkpoint"]["path"], str(folder / "checkpoint-1"))
        self.assertEqual(now["checkpoint"]["save_seconds"], 0.25)
        self.cluster.ok("resume", job)
        now = self.cluster.wait_running(job, attempt=2)
        self.assertFalse(now["held"])
        self.logged(job, f"attempt 2, checkpoint {folder / 'checkpoint-1'}")
        (folder / "done").touch()
        self.assertEqual(self.cluster.hai("wait", job).code, 0)

    def test_requeue_starts_again_by_itself(self):
        job, folder = self.start_saver("again", nodes=2)
        self.logged(job, "start 1, attempt 1, checkpoint none")
        said = self.cluster.ok("requeue", job, "--reason", "fresh data")
        self.assertIn("starts again by itself", str(said))
        now = self.cluster.wait_running(job, attempt=2)
        self.assertEqual((now["held"], now["suspend_count"]), (False, 1))
        self.logged(job, f"attempt 2, checkpoint {folder / 'checkpoint-1'}")
        (folder / "done").touch()
        self.assertEqual(self.cluster.hai("wait", job).code, 0)
        self.assertEqual(self.cluster.hai("requeue", job).code, 4)

    def test_suspend_by_signal_for_programs_without_the_sdk(self):
        spec = self.cluster.spec(
            "by-signal",
            "signal_job.sh",
            "1000 0.05",
            workspace=EXAMPLES,
            options={"suspend": {"grace": "20s", "signal": "SIGUSR1"}},
        )
        spec["spec"]["entrypoint"] = str(EXAMPLES / "signal_job.sh")
        spec["spec"]["workspace"] = str(self.cluster.work)
        job = self.cluster.run(spec)
        self.logged(job, "count 3")
        self.cluster.ok("suspend", job)
        now = self.cluster.wait_state(job, "suspended", seconds=15)
        self.assertEqual(now["suspend_count"], 1)
        log = self.cluster.log(job)
        saved = int(log.rsplit("saved at ", 1)[1].split(",")[0])
        self.assertGreaterEqual(saved, 3)
        self.cluster.ok("resume", job)
        self.logged(job, f"counting from {saved} to 1000")
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")

    def test_whoever_does_not_leave_within_the_grace_is_killed(self):
        spec = self.cluster.spec(
            "stubborn",
            "/bin/sh",
            "-c 'trap \"\" TERM USR1; echo deaf; sleep 600 & wait; wait'",
            options={"suspend": {"grace": "1s", "signal": "SIGUSR1"}},
        )
        job = self.cluster.run(spec)
        self.logged(job, "deaf")
        self.cluster.ok("suspend", job)
        self.cluster.wait_state(job, "suspended", seconds=30)
        text = json.dumps(self.cluster.json("events", job))
        self.assertIn("did not leave within its grace", text)
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")

    def test_a_more_important_job_suspends_only_as_many_as_needed(self):
        first, first_folder = self.start_saver("victim-1", priority="low")
        second, second_folder = self.start_saver("victim-2", priority="low")
        urgent = self.cluster.exec("sleep 600", "-n", 1, "-p", "high")
        self.cluster.wait_running(urgent)
        states = sorted(self.cluster.job(job)["state"] for job in (first, second))
        self.assertEqual(states, ["running", "suspended"])
        self.cluster.ok("stop", urgent)
        for job in (first, second):
            self.cluster.wait_state(job, "running")
        for job, folder in ((first, first_folder), (second, second_folder)):
            (folder / "done").touch()
            self.assertEqual(self.cluster.hai("wait", job).code, 0)

    # -- hold, dependencies, quotas

    def test_hold_and_release(self):
        blocker = self.cluster.exec("sleep 600", "-n", 2, "-p", "high")
        self.cluster.wait_running(blocker)
        job = self.cluster.exec("true", "-n", 1, "-p", "low")
        self.cluster.ok("hold", job)
        self.assertTrue(self.cluster.job(job)["held"])
        self.cluster.ok("stop", blocker)
        self.cluster.wait_end(blocker, "stopped")
        other = self.cluster.exec("true", "-n", 1, "-p", "low")
        self.cluster.wait_end(other)
        now = self.cluster.job(job)
        self.assertEqual((now["state"], now["held"]), ("queued", True))
        self.assertEqual(now["pending_reason"]["code"], "held")
        self.cluster.ok("release", job)
        self.cluster.wait_end(job)

    def test_depends_on_waits_for_success(self):
        first = self.cluster.exec("sleep 600", "--name", "goes-first")
        second = self.cluster.exec("true", "--depends-on", "goes-first")
        third = self.cluster.exec("true", "--depends-on", str(second))
        self.cluster.wait_running(first)
        now = self.cluster.wait_job(second, "has a reason", lambda job: job["pending_reason"])
        self.assertIn(str(first), now["pending_reason"]["text"])
        self.cluster.ok("stop", first)
        # It never can start now; it says so and leaves the decision to its owner.
        now = self.cluster.wait_job(
            second, "knows", lambda job: job["pending_reason"]["code"] == "dependency_failed"
        )
        self.assertEqual(now["state"], "queued")
        self.assertIn(f"job {first}", now["pending_reason"]["text"])
        self.cluster.ok("stop", second, third)
        good = self.cluster.exec("true", "--name", "good")
        self.cluster.wait_end(self.cluster.exec("true", "--depends-on", str(good)))

    def test_a_quota_bounds_what_runs_and_what_is_accepted(self):
        me = self.cluster.json("whoami")["user"]
        self.cluster.ok("quota", "set", me, "1", "-g", "training", "-p", "normal")
        try:
            result = self.cluster.hai("exec", "true", "--", "-n", 2, "-p", "normal")
            self.assertEqual(result.code, 4, result)
            self.assertRegex(
                result.err, rf"quota of {me} in training/normal: 1 node in all, 2 asked"
            )
            running = self.cluster.exec("sleep 600", "-n", 1, "-p", "normal")
            self.cluster.wait_running(running)
            waiting = self.cluster.exec("true", "-n", 1, "-p", "normal")
            now = self.cluster.wait_job(waiting, "has a reason", lambda job: job["pending_reason"])
            self.assertIn("quota", now["pending_reason"]["code"])
            self.assertIn("quota", self.cluster.ok("why", waiting))
            self.cluster.ok("quota", "set", me, "2", "-g", "training", "-p", "normal")
            self.cluster.wait_end(waiting)
            self.cluster.ok("stop", running)
            self.cluster.wait_end(running, "stopped")
        finally:
            self.cluster.ok("quota", "remove", me, "-g", "training", "-p", "normal")

    # -- nodes

    def test_drain_moves_the_job_and_undrain_opens_the_node(self):
        job, folder = self.start_saver("drained")
        node = self.cluster.job(job)["nodes"][0]
        self.addCleanup(self.cluster.hai, "undrain", node)
        self.cluster.ok("drain", node, "--reason", "new disk")
        now = self.cluster.wait_running(job, attempt=2)
        self.assertNotEqual(now["nodes"], [node])
        self.assertEqual((now["suspend_count"], now["held"]), (1, False))
        eventually("it is drained", lambda: self.cluster.node(node)["scheduling"] == "drained")
        self.assertEqual(self.cluster.node(node)["reason"], "new disk")
        (folder / "done").touch()
        self.assertEqual(self.cluster.hai("wait", job).code, 0)
        whole = self.cluster.exec("true", "-n", 2)
        now = self.cluster.wait_job(whole, "has a reason", lambda job: job["pending_reason"])
        self.assertIn("1 of 1 open node", now["pending_reason"]["text"])
        self.cluster.ok("undrain", node)
        self.cluster.wait_end(whole)
        self.cluster.ok("cordon", node)
        self.assertEqual(self.cluster.node(node)["scheduling"], "cordoned")
        self.cluster.ok("undrain", node)
        self.assertEqual(self.cluster.node(node)["scheduling"], "open")

    def test_what_is_set_of_a_node_counts_more_than_its_config(self):
        job, folder = self.start_saver("stays")
        node = self.cluster.job(job)["nodes"][0]
        self.addCleanup(self.cluster.hai, "node", "set", node, "--reset", "group,labels,leaf")
        result = self.cluster.hai("node", "set", node, "--group", "debug")
        self.assertEqual(result.code, 4, result)
        self.assertIn(f"hai drain {node}", result.err)
        answer = self.cluster.ok("node", "set", node, "--labels", "fast-disk,ib", "--leaf", "leaf-9")
        self.assertEqual(answer, f"{node}: leaf leaf-9, labels fast-disk and ib\n")
        (folder / "done").touch()
        self.cluster.wait_end(job)
        fast = self.cluster.exec("true", "--label", "fast-disk")
        self.assertEqual(self.cluster.wait_end(fast)["nodes"], [node])

        answer = self.cluster.ok("node", "set", node, "--group", "debug", "--reason", "for interns")
        self.assertIn("debug is a new group", answer)
        seen = self.cluster.ok("events", "--node", node)
        self.assertIn("set to group debug, leaf leaf-9, labels fast-disk and ib: for interns", seen)
        self.cluster.kill(f"agent:{node}")
        self.cluster.start(f"agent:{node}")
        self.cluster.wait_node(node)
        now = self.cluster.node(node)
        self.assertEqual((now["group"], now["leaf"]), ("debug", "leaf-9"))
        self.assertEqual(now["set"], ["group", "leaf", "labels"])
        self.assertIn("by an operator: group, leaf, labels", self.cluster.ok("nodes", node))
        debug = self.cluster.exec("true", "-g", "debug")
        self.assertEqual(self.cluster.wait_end(debug)["nodes"], [node])
        answer = self.cluster.ok("node", "set", node, "--reset", "group,labels,leaf")
        self.assertEqual(answer, f"{node}: as its agent says\n")
        now = self.cluster.node(node)
        self.assertEqual((now["group"], now["labels"], now["set"]), ("training", [], []))

    def test_drain_by_a_deadline_lets_the_job_go_on_until_then(self):
        job, folder = self.start_saver("patient")
        node = self.cluster.job(job)["nodes"][0]
        self.addCleanup(self.cluster.hai, "undrain", node)
        answer = self.cluster.ok("drain", node, "--reason", "new rack", "--deadline", "2h")
        self.assertIn("cordoned, and drained when its jobs have ended or at 2", answer)
        now = self.cluster.node(node)
        self.assertEqual((now["scheduling"], now["reason"]), ("cordoned", "new rack"))
        self.assertIsNotNone(now["drain_at"])
        self.assertIn("to be drained by", self.cluster.ok("nodes", node))
        for deadline in ("soon", "2001-01-01T00:00:00Z", "9000d"):
            self.assertIn("deadline", self.cluster.hai("drain", node, "--deadline", deadline).err)
        self.assertEqual(self.cluster.node(node)["drain_at"], now["drain_at"])
        self.cluster.ok("drain", node, "--reason", "new rack", "--deadline", "2s")
        self.cluster.wait_running(job, attempt=2)
        eventually("it is drained", lambda: self.cluster.node(node)["scheduling"] == "drained")
        self.assertIsNone(self.cluster.node(node)["drain_at"])
        (folder / "done").touch()
        self.assertEqual(self.cluster.hai("wait", job).code, 0)


class PlaceTest(ClusterTest):
    """Shares of nodes, and what programs are told about their place."""

    shape = {"name": "place", "nodes": 2}

    def test_shares_of_one_node_are_disjoint(self):
        jobs = [
            self.cluster.exec("echo gpus=$CUDA_VISIBLE_DEVICES; sleep 600", "--gpus", gpus)
            for gpus in (4, 2, 1, 1)
        ]
        given, nodes = [], set()
        for job in jobs:
            self.cluster.wait_running(job)
            log = eventually(f"job {job} says its GPUs", lambda job=job: self.cluster.log(job))
            given.append([int(gpu) for gpu in log.strip().partition("=")[2].split(",")])
            nodes.update(self.cluster.job(job)["nodes"])
        self.assertEqual([len(gpus) for gpus in given], [4, 2, 1, 1])
        self.assertEqual(len(nodes), 1, "shares are packed to keep whole nodes whole")
        self.assertEqual(sorted(gpu for gpus in given for gpu in gpus), list(range(8)))
        whole = self.cluster.exec("echo gpus=$CUDA_VISIBLE_DEVICES", "-n", 1)
        self.cluster.wait_end(whole)
        self.assertEqual(self.cluster.log(whole), "gpus=0,1,2,3,4,5,6,7\n")
        for job in jobs:
            self.cluster.ok("stop", job)
        for job in jobs:
            self.cluster.wait_end(job, "stopped")

    def variables(self, job, rank=0):
        return dict(
            line.partition("=")[::2] for line in self.cluster.log(job, "-r", rank).splitlines()
        )

    def environment_of(self, style, launch="per_node", gpus=2):
        name = f"env-{style}-{launch.replace('_', '-')}"
        spec = self.cluster.spec(
            name,
            "/usr/bin/env",
            nodes=2,
            gpus=gpus,
            options={"env_style": style, "launch": launch},
            environments={"OWN": "variable"},
        )
        job = self.cluster.run(spec)
        self.cluster.wait_end(job)
        return job

    def test_style_hai(self):
        job = self.environment_of("hai")
        first, second = self.variables(job, 0), self.variables(job, 1)
        self.assertEqual((first["RANK"], second["RANK"], first["WORLD_SIZE"]), ("0", "1", "2"))
        self.assertEqual(first["OWN"], "variable")
        expected = {
            "HAI_JOB_ID": str(job),
            "HAI_JOB_NAME": "env-hai-per-node",
            "HAI_ATTEMPT": "1",
            "HAI_NODE_RANK": "1",
            "HAI_NNODES": "2",
            "HAI_ZONE": "A",
            "MARSV2_RANK": "1",
            "MARSV2_NB_NAME": "env-hai-per-node",
        }
        self.assertEqual({key: second[key] for key in expected}, expected)
        self.assertEqual([first["HAI_NODE_NAME"], second["HAI_NODE_NAME"]], self.nodes_of(job))
        for name in ("HAI_USER", "HAI_LEAF", "HAI_SOCKET", "HAI_LOG_DIR", "MASTER_PORT"):
            self.assertTrue(second[name], name)
        self.assertEqual(first["MASTER_ADDR"], second["MASTER_ADDR"])
        self.assertEqual(first["MASTER_IP"], first["MASTER_ADDR"])
        self.assertEqual(first.get("HAI_CHECKPOINT", ""), "")
        self.assertNotIn("SLURM_JOB_ID", first)

    def nodes_of(self, job):
        placed = [
            event for event in self.cluster.json("events", job) if event["kind"] == "attempt_placed"
        ]
        lists = {"node-1": ["node-1"], "node-2": ["node-2"], "node-[1-2]": ["node-1", "node-2"]}
        return lists[placed[0]["text"].split("placed on ")[1]]

    def test_style_torch(self):
        second = self.variables(self.environment_of("torch"), 1)
        self.assertEqual(
            (second["NODE_RANK"], second["NNODES"], second["GROUP_RANK"]), ("1", "2", "1")
        )
        self.assertNotIn("RANK", second, "torchrun sets it")
        self.assertNotIn("WORLD_SIZE", second)

    def test_style_torch_per_gpu(self):
        self.cluster.file(
            "say.sh",
            "#!/bin/sh\necho $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE "
            "$CUDA_VISIBLE_DEVICES\n",
        )
        spec = self.cluster.spec(
            "per-gpu",
            "say.sh",
            nodes=2,
            gpus=2,
            options={"env_style": "torch", "launch": "per_gpu"},
        )
        job = self.cluster.run(spec)
        self.cluster.wait_end(job)
        lines = sorted(
            self.cluster.log(job, "-r", 0).splitlines()
            + self.cluster.log(job, "-r", 1).splitlines()
        )
        self.assertEqual(
            [line.split()[:2] for line in lines],
            [["0/4", "0/2"], ["1/4", "1/2"], ["2/4", "0/2"], ["3/4", "1/2"]],
        )

    def test_style_slurm(self):
        job = self.environment_of("slurm")
        second = self.variables(job, 1)
        expected = {
            "SLURM_JOB_ID": str(job),
            "SLURM_NODEID": "1",
            "SLURM_NNODES": "2",
            "SLURM_PROCID": "1",
            "SLURM_LOCALID": "0",
            "SLURM_NTASKS": "2",
            "SLURM_RESTART_COUNT": "0",
            "SLURM_JOB_NODELIST": "node-[1-2]",
        }
        self.assertEqual({key: second[key] for key in expected}, expected)

    def test_a_job_runs_in_its_workspace_as_its_user(self):
        job = self.cluster.exec("pwd; id -un")
        self.cluster.wait_end(job)
        user = self.cluster.json("whoami")["user"]
        self.assertEqual(self.cluster.log(job).splitlines(), [str(self.cluster.work), user])
        self.assertEqual(os.stat(self.cluster.work).st_uid, os.geteuid())


if __name__ == "__main__":
    unittest.main()
