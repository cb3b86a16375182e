"""Slurm's commands on a real cluster: a batch script runs once, its srun on all nodes; what is refused
changes nothing."""

import json
import re
import shutil
import signal
import subprocess
import unittest

from cluster import EXAMPLES, eventually, programs
from slurm_commands import SlurmClusterTest
from slurm_scripts import SlurmScripts

SCRIPT = """#!/bin/bash
#SBATCH --job-name=steps
#SBATCH --nodes=2 --ntasks-per-node=2
#SBATCH --gres=gpu:2 --cpus-per-task=1
#SBATCH --time=10:00
#SBATCH --output=%x-%j.log
echo "batch $SLURM_JOB_NAME $SLURM_NNODES $SLURM_NTASKS $SLURM_PROCID args=$1,$2 in $PWD"
echo "first $(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1) here $SLURMD_NODENAME"
srun sh -c 'echo "task $SLURM_PROCID/$SLURM_NTASKS node $SLURM_NODEID local $SLURM_LOCALID"'
srun -N2 -n2 sh -c 'echo "bin $(command -v scontrol) $(scontrol show hostnames | wc -l)"'
echo "alone $(srun -N1 -n1 sh -c 'echo $SLURM_NTASKS')"
srun -n2 -l --gpus-per-task=1 sh -c 'echo gpus $CUDA_VISIBLE_DEVICES' 2>&1 | sort
srun sh -c 'exit $SLURM_PROCID'
echo "srun ended with $?"
exit 7
"""

MPI_SUM = """#include <mpi.h>
#include <stdio.h>
int main(int count, char** words) {
  int rank = 0, size = 0, sum = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d: %d\\n", rank, size, sum);
  return MPI_Finalize();
}
"""


class SlurmTest(SlurmScripts, SlurmClusterTest):
    shape = {"name": "slurm", "nodes": 3, "gpus": 4}

    def test_batch_script_runs_once_and_its_steps_everywhere(self):
        path = self.cluster.file("steps.sh", SCRIPT)
        job = self.submit(path, "one", "two words")
        self.cluster.wait_end(job, "failed")
        self.assertEqual(self.cluster.job(job)["exit_code"], 7)
        text = self.cluster.log(job)
        self.assertIn(f"batch steps 2 4 0 args=one,two words in {self.cluster.work}\n", text)
        first = re.search(r"first (\S+) here (\S+)", text)
        self.assertEqual(first[1], first[2])
        self.assertEqual(text.count("batch steps"), 1)
        tasks = sorted(re.findall(r"task (\d)/4 node (\d) local (\d)", text))
        self.assertEqual(
            tasks, [("0", "0", "0"), ("1", "0", "1"), ("2", "1", "0"), ("3", "1", "1")]
        )
        self.assertIn("alone 1\n", text)
        # Each task finds the commands on its own node.
        places = re.findall(r"bin (\S+)/bin/scontrol 2", text)
        self.assertEqual(len(set(places)), 2, text)
        self.assertRegex(text, r"0: gpus \d\n1: gpus \d\n")
        self.assertIn("srun ended with 3\n", text)
        self.assertRegex(text, r"srun: error: node-\d: task 2: Exited with exit code 2\n")
        # The file is what Slurm would have written, and the log has the same.
        self.assertEqual((self.cluster.work / f"steps-{job}.log").read_text(), text)

    def test_environment_and_standard_output(self):
        done = self.call(
            "sbatch",
            "--parsable",
            "-W",
            "--mail-type=END",
            "--export=ALL,GREETING=hello",
            "--wrap",
            "echo $GREETING $OWN; echo err >&2; env | grep -c HAI_SLURM_KEY; exit 3",
            env={"OWN": "mine"},
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("--mail-type has no effect", done.stderr)
        job = int(done.stdout)
        self.assertEqual(
            (self.cluster.work / f"slurm-{job}.out").read_text(), "hello mine\nerr\n0\n"
        )

    def test_script_from_standard_input_and_dependency(self):
        first = self.submit(stdin="#!/bin/sh\n#SBATCH -J first\nexit 0\n")
        second = self.submit("-d", f"afterok:{first}", stdin="#!/bin/sh\nexit 0\n")
        self.cluster.wait_end(second)
        self.assertEqual(self.cluster.job(first)["name"], "first")

    def test_same_name_twice(self):
        first = self.submit("-J", "twin", "--wrap", "sleep 600")
        second = self.submit("-J", "twin", "--wrap", "sleep 600")
        self.assertEqual(self.cluster.job(first)["name"], "twin")
        self.assertRegex(self.cluster.job(second)["name"], r"^twin-\w+$")
        self.good("scancel", first, second)
        self.cluster.wait_end(first, "stopped")
        self.cluster.wait_end(second, "stopped")

    def test_squeue_and_scancel(self):
        running = self.submit("-J", "runs", "-N3", "-t", "1:00:00", "--wrap", "sleep 600")
        waiting = self.submit("-J", "waits", "-N3", "--qos=low", "--wrap", "true")
        self.cluster.wait_running(running)
        lines = self.good("squeue").splitlines()
        self.assertEqual(
            lines[0],
            "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)",
        )
        self.assertRegex(
            lines[1], rf"^ +{running}  training     runs +\S+  R +\S+ +3 node-\[1-3\]$"
        )
        self.assertRegex(
            lines[2], rf"^ +{waiting}  training    waits +\S+ PD +0:00 +3 \(Resources\)$"
        )
        self.assertEqual(
            self.good("squeue", "-h", "-j", running, "-o", "%i %T %l %q"),
            f"{running} RUNNING 1:00:00 auto\n",
        )
        self.assertEqual(self.good("squeue", "--me", "-h", "-t", "PD", "-o", "%j"), "waits\n")
        self.assertEqual(self.good("squeue", "-h", "-u", "nobody"), "")
        self.assertIn(
            f"JobId={running} JobName=runs", self.good("scontrol", "show", "job", running)
        )
        self.good("scontrol", "hold", waiting)
        self.assertIn("(JobHeldUser)", self.good("squeue", "-n", "waits"))
        self.good("scancel", "-n", "waits")
        self.cluster.wait_end(waiting, "stopped")
        self.good("scancel", running)
        self.cluster.wait_end(running, "stopped")
        self.assertEqual(self.good("squeue", "-h", "-j", running), "")
        self.assertEqual(self.good("squeue", "-h", "-t", "all", "-j", running, "-o", "%t"), "CA\n")
        unknown = self.call("scancel", "999999")
        self.assertEqual(unknown.returncode, 3)
        self.assertIn("Invalid job id specified", unknown.stderr)

    def test_sinfo_with_a_drained_node(self):
        self.cluster.ok("drain", "node-3", "--reason", "new disk")
        eventually("node-3 is drained", lambda: "drain" in self.good("sinfo", "-h", "-n", "node-3"))
        self.assertEqual(
            self.good("sinfo"),
            "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
            "training*    up   infinite      2   idle node-[1-2]\n"
            "training*    up   infinite      1  drain node-3\n",
        )
        self.assertIn("new disk", self.good("sinfo", "-R"))
        self.assertEqual(self.good("sinfo", "-h", "-o", "%R %F %G"), "training 0/2/1/3 gpu:4\n")
        self.assertEqual(len(self.good("sinfo", "-N", "-h").splitlines()), 3)
        self.assertIn("State=DRAINED", self.good("scontrol", "show", "node", "node-3"))
        self.cluster.ok("undrain", "node-3")

    def test_srun_outside_a_job(self):
        done = self.call(
            "srun", "-N2", "-l", "sh", "-c", "echo $SLURMD_NODENAME; exit $SLURM_PROCID"
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        labels = sorted(line.split(": ")[0] for line in done.stdout.splitlines() if "node-" in line)
        self.assertIn("0", labels)
        self.assertIn("1", labels)
        self.assertEqual(self.good("srun", "echo", "a b"), "a b\n")
        self.assertEqual(self.call("srun", "/no/such/program").returncode, 127)

    def test_interrupted_srun_stops_its_job(self):
        process = subprocess.Popen(
            [str(programs() / "slurm" / "srun"), "-J", "breaks", "sleep", "600"],
            cwd=self.cluster.work,
            env=self.cluster.environment(),
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.cluster.followers.append(process)
        job = int(
            eventually(
                "the job runs",
                lambda: self.good("squeue", "-h", "-n", "breaks", "-t", "R", "-o", "%i"),
            )
        )
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 130)
        self.cluster.wait_end(job, "stopped")

    def test_a_lost_task_ends_the_step_and_steps_in_the_background_end(self):
        job = self.submit(
            "-N2",
            stdin="#!/bin/bash\nsrun -K sh -c '[ $SLURM_PROCID = 1 ] && exit 9; sleep 600'\n"
            "echo code $?\nsrun sleep 600 &\nexit 0\n",
        )
        self.cluster.wait_end(job)
        self.assertIn("code 9\n", self.cluster.log(job))

    def test_interruption_is_a_restart(self):
        job = self.submit(
            "-N2",
            "--signal=USR1@30",
            stdin="#!/bin/bash\n[ $SLURM_RESTART_COUNT = 0 ] || exit 0\n"
            'srun bash -c \'trap "echo saved $SLURM_PROCID; exit 0" USR1; echo up; '
            "while :; do sleep 0.1; done'\n",
        )
        eventually("both tasks are up", lambda: self.cluster.log(job).count("up\n") == 2)
        self.cluster.ok("suspend", job)
        self.cluster.wait_state(job, "suspended")
        self.cluster.ok("resume", job)
        self.cluster.wait_end(job)
        text = (self.cluster.work / f"slurm-{job}.out").read_text()
        self.assertEqual(sorted(re.findall(r"saved \d", text)), ["saved 0", "saved 1"], text)

    def test_requeue_from_outside_and_in_the_notice(self):
        job = self.submit(
            "--signal=B:USR1@30",
            stdin="#!/bin/bash\n[ $SLURM_RESTART_COUNT = 0 ] || exit 0\n"
            "trap 'scontrol requeue $SLURM_JOB_ID && echo noticed; exit 1' USR1\n"
            "echo up\nsrun sleep 600 &\nwait\n",
        )
        eventually("it is up", lambda: "up\n" in self.cluster.log(job))
        self.good("scontrol", "requeue", job)
        self.cluster.wait_end(job)
        self.assertEqual(self.cluster.job(job)["attempt"], 2)
        self.assertEqual((self.cluster.work / f"slurm-{job}.out").read_text(), "up\nnoticed\n")

    def test_a_lost_node_is_no_failure_of_the_script(self):
        self.lose_a_node("srun true")

    def test_a_node_lost_before_a_step_is_no_failure_either(self):
        self.lose_a_node("until [ -e lost ]; do sleep 0.1; done")

    def lose_a_node(self, before):
        (self.cluster.work / "lost").unlink(missing_ok=True)
        job = self.submit(
            "-N2",
            stdin=f"#!/bin/bash\n[ $SLURM_RESTART_COUNT = 0 ] || exit 0\n{before}\nsrun sleep 600\n"
            "echo went on\nexit 1\n",
        )
        self.cluster.wait_running(job)
        other = self.good("squeue", "-h", "-j", job, "-o", "%N").strip()
        other = self.good("scontrol", "show", "hostnames", other).split()[-1]
        self.cluster.kill(f"node:{other}")
        (self.cluster.work / "lost").touch()
        eventually("it is fenced", lambda: self.cluster.hai("fence", other, "--yes").code == 0, 60)
        self.cluster.wait_end(job)
        self.assertEqual(self.cluster.job(job)["attempt"], 2)
        self.assertNotIn("went on", (self.cluster.work / f"slurm-{job}.out").read_text())
        self.cluster.start(f"node:{other}")
        self.cluster.wait_node(other)

    def test_large_output_of_a_slow_reader(self):
        job = self.submit(
            "-N2",
            "-W",
            stdin="#!/bin/bash\nsrun sh -c 'head -c 8000000 /dev/zero' | (sleep 1; wc -c)\n"
            "srun -n 64 true && echo all\n",
        )
        self.assertIn("16000000\nall\n", (self.cluster.work / f"slurm-{job}.out").read_text())

    def test_what_is_refused_changes_nothing(self):
        before = self.cluster.json("list", "-a", "--finished")
        script = self.cluster.file("plain.sh", "#!/bin/sh\ntrue\n")
        lines = self.cluster.file("licenses.sh", "#!/bin/sh\n#SBATCH -L a\ntrue\n")
        none = self.cluster.file("none.txt", "echo hi\n")
        for words, message in (
            (["sbatch", "--array=4-1", script], "range 4-1 runs backwards"),
            (["sbatch", "-L", "a", script], "-L/--licenses is not supported"),
            (["sbatch", lines], "licenses.sh line 2: -L/--licenses is not supported"),
            (["sbatch", "-N1-4", script], "give no range"),
            (["sbatch", "--no-requeue", script], "SLURM_RESTART_COUNT"),
            (["sbatch", "--partitoin=x", script], "did you mean --partition?"),
            (["sbatch", "-p", "nowhere", script], "nowhere"),
            (["sbatch", "-N99", script], "99"),
            (["sbatch", "-Q", "-c5000", script], "5000 CPUs of a node are asked for, but no node of"),
            (["sbatch", "-Q", "--exclusive", "--gres=gpu:16", script], "16 GPUs of a node are asked"),
            (["sbatch", "-D", "/nowhere", script], "there is no directory /nowhere"),
            (["sbatch", none], "does not look like a batch script"),
            (["sbatch"], "sbatch: error: standard input: this does not look like"),
            (["sbatch", "absent.sh"], "absent.sh"),
            (["srun", "--pty", "bash"], "this is no terminal"),
            (["srun"], "no command given"),
            (["scancel"], "No job identification provided"),
            (["scancel", "-s", "USR1", "1"], "--signal: of steps only (JOB.STEP)"),
            (["scancel", "1_2"], "Invalid job id specified"),
            (["squeue", "-o", "%I"], "%I in the format is not known"),
            (["squeue", "-t", "sleeping"], "state 'SLEEPING' is not known"),
            (["sinfo", "-t", "sleeping"], "'sleeping' is not known"),
            (["scontrol", "update", "JobId=1", "Priority=5"], "hai rerun 1"),
        ):
            with self.subTest(words=words):
                done = self.call(*words)
                self.assertIn(done.returncode, (1, 2, 3, 4), done)
                self.assertEqual(done.stdout, "")
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertTrue(done.stderr.startswith(f"{words[0]}: error: "), done.stderr)
                self.assertIn(message, done.stderr)
        self.assertEqual(self.cluster.json("list", "-a", "--finished"), before)

    def test_srun_enters_a_running_job(self):
        job = self.submit("-N2", "--wrap", "srun sleep 600")
        self.cluster.wait_running(job)
        where = self.cluster.job(job)["nodes"]
        said = self.good("srun", "--jobid", job, "-w", where[1], "sh", "-c", "echo $HAI_JOB_ID $HAI_NODE_RANK")
        self.assertEqual(said, f"{job} 1\n")
        for words, message in (
            (["srun", "--jobid", job, "-N2", "true"], "one command runs beside the job's tasks"),
            (["srun", "--jobid", job, "-w", "elsewhere", "true"], f"job {job} has no task on elsewhere"),
            (["srun", "--jobid", "999", "true"], "job 999 does not exist"),
        ):
            done = self.call(*words)
            self.assertIn(done.returncode, (2, 3), done)
            self.assertIn(message, done.stderr)
        self.cluster.ok("stop", job)

    def test_the_example(self):
        job = self.submit("--wait", EXAMPLES / "slurm" / "train.sbatch")
        text = (self.cluster.work / f"slurm-{job}.out").read_text()
        self.assertEqual(text.count("rank "), 2, text)
        self.assertEqual(text.count("prepared"), 1, text)

    def test_sacct_tells_of_jobs_that_have_ended(self):
        job = self.submit("-J", "ended", "-N2", "--wrap", "exit 4")
        self.cluster.wait_end(job, "failed")
        self.assertRegex(
            self.good("sacct", "-X", "-j", job, "-n", "-P", "-o", "JobID,State,ExitCode,NodeList"),
            rf"^{job}\|FAILED\|4:0\|node-\[[\d,-]+\]\n$",
        )
        self.assertIn("ended", self.good("sacct", "--name", "ended"))
        nodes = {node["name"]: node for node in self.cluster.json("nodes")}
        given = [nodes[name] for name in self.cluster.job(job)["nodes"]]
        cpus = sum(node["cpus"] for node in given)
        memory = sum(node["memory_bytes"] for node in given) >> 20
        tres = f"cpu={cpus},mem={memory}M,node=2,gres/gpu=8"
        self.assertEqual(
            self.good(
                "sacct", "-j", job, "-n", "-P", "-S", "now-1hour", "-o", "JobID,JobName,AllocTRES"
            ),
            f"{job}|ended|{tres}\n{job}.batch|batch|{tres}\n",
        )
        found = json.loads(self.good("sacct", "-j", job, "--json"))["jobs"][0]
        self.assertEqual(found["state"]["current"], ["FAILED"])
        self.assertEqual(found["exit_code"]["return_code"]["number"], 4)
        seff = self.good("seff", job)
        self.assertIn("State: FAILED (exit code 4)\nNodes: 2\nGPUs: 8\nCPUs: ", seff)
        self.assertRegex(seff, r"CPU Utilized: 00:00:0\d\n(CPU Eff.*\n)?Memory Utilized: .* \(the")
        self.assertRegex(self.good("sacct", "-j", job, "-X", "-n", "-P", "-o", "MaxRSS"), r"^\d+K$")
        self.assertEqual(self.good("sacct", "-n", "--name", "ended", "-S", "now+1hour"), "")

    def test_options_from_the_environment(self):
        script = "#!/bin/sh\n#SBATCH -J of-script -N 2\nsrun -l hostname\n"
        env = {"SBATCH_JOB_NAME": "of-env", "SBATCH_GPUS_PER_NODE": "1", "SQUEUE_FORMAT": "%j!%D"}
        job = self.submit(stdin=script, env=env)
        lines = self.good("squeue", "-t", "all", "-j", job, env=env)
        self.assertEqual(lines, "NAME!NODES\nof-env!2\n")
        self.assertEqual(self.cluster.job(job)["gpus_per_node"], 1)
        again = self.submit("-J", "of-line", stdin=script, env=env)
        self.assertEqual(
            self.good("squeue", "-h", "-t", "all", "-j", again, "-o", "%j", env=env), "of-line\n"
        )
        odd = self.call("squeue", "-h", "-t", "all", "-j", job, env={"SQUEUE_FORMAT": "%i %I"})
        self.assertEqual((odd.returncode, odd.stdout.split()[0]), (0, str(job)), odd)
        self.assertIn("SQUEUE_FORMAT: --format: %I in the format is not known", odd.stderr)
        refused = self.call("sbatch", "--wrap", "true", env={"SBATCH_RESERVATION": "friday"})
        self.assertIn("SBATCH_RESERVATION: --reservation is not supported", refused.stderr)
        self.cluster.wait_end(job)
        self.cluster.wait_end(again)

    def test_other_views(self):
        first = self.submit("-J", "view-b", "-N3", "-t", "5", "--wrap", "sleep 600")
        second = self.submit("-J", "view-a", "-N3", "--qos=low", "--wrap", "true")
        self.cluster.wait_running(first)
        format = "jobid:8,name:.8,state:9,tres-per-node:5"
        self.assertEqual(
            self.good("squeue", "-h", "-n", "view-a,view-b", "-S", "j", "-O", format),
            f"{second:<8}  view-aPENDING  gpu  \n{first:<8}  view-bRUNNING  gpu  \n",
        )
        jobs = {job["job_id"]: job for job in json.loads(self.good("squeue", "--json"))["jobs"]}
        self.assertEqual(jobs[first]["job_state"], ["RUNNING"])
        self.assertEqual(jobs[first]["time_limit"]["number"], 5)
        self.assertEqual(jobs[second]["state_reason"], "Resources")
        nodes = json.loads(self.good("sinfo", "--json"))["sinfo"]
        self.assertEqual(
            [(n["node"]["state"], n["nodes"]["total"]) for n in nodes], [(["ALLOCATED"], 3)]
        )
        shown = self.good("scontrol", "-o", "show", "job", first)
        for part in (
            f"JobId={first} JobName=view-b ",
            " NumNodes=3 ",
            " BatchHost=node-1 ",
            ",node=3,gres/gpu=12 MinCPUsNode=",
            f" StdOut={self.cluster.work}/slurm-{first}.out ",
            " TimeLimit=00:05:00 ",
        ):
            self.assertIn(part, shown)
        self.assertIn("TRES=cpu=", self.good("scontrol", "show", "partition", "training"))
        self.assertIn("ClusterName             = slurm\n", self.good("scontrol", "show", "config"))
        self.assertIn(" is UP", self.good("scontrol", "ping"))
        self.assertIn("\nsleep 600\n", self.good("scontrol", "write", "batch_script", first, "-"))
        self.assertIn("name JOB", self.call("scontrol", "show", "step").stderr)
        self.assertEqual(
            self.good("scontrol", "show", "step", first), "No job steps in the system\n"
        )
        waiting = self.good("sprio", "-h", "-j", second)
        self.assertRegex(waiting, rf"^ +{second} training .* 0 +low Resources")
        self.assertIn("extreme_high|50\n", self.good("sacctmgr", "-nP", "show", "qos"))
        self.assertIn("|admin\n", self.good("sacctmgr", "-nP", "show", "user"))
        for command in ("sshare", "sreport", "sstat", "sbcast", "strigger"):
            done = self.call(command)
            self.assertEqual(
                (done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), command
            )
            self.assertTrue(
                done.stderr.startswith(f"{command}: error: not supported: "), done.stderr
            )
        self.good("scancel", first, second)
        self.cluster.wait_end(first, "stopped")
        self.cluster.wait_end(second, "stopped")

    def test_mpirun_over_the_nodes_of_a_job(self):
        if not shutil.which("mpicc") or not shutil.which("mpirun"):
            self.skipTest("no Open MPI: deploy/install_packages.sh --tests")
        source = self.cluster.file("sum.c", MPI_SUM)
        subprocess.run(["mpicc", source, "-o", self.cluster.work / "sum"], check=True)
        job = self.submit(
            "-N2",
            "--ntasks-per-node=2",
            # All nodes of a dev cluster are one machine, which its shared memory can't tell apart.
            stdin="#!/bin/bash\nmpirun --mca btl tcp,self ./sum\n",
            env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        )
        self.cluster.wait_end(job)
        found = re.findall(r"^rank (\d) of 4: 6$", self.cluster.log(job), re.M)
        self.assertEqual(sorted(found), ["0", "1", "2", "3"])

    def test_test_only(self):
        done = self.call("sbatch", "--test-only", "--wrap", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("to start at", done.stderr)

    def test_test_only_of_a_name_that_is_taken(self):
        self.submit("-J", "taken", "--wrap", "sleep 600")
        done = self.call("sbatch", "--test-only", "-J", "taken", "--wrap", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("to start at", done.stderr)

    def test_a_list_that_is_empty_says_of_whom_nobody_knows(self):
        done = self.call("squeue", "-p", "nope")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no node is in a group nope", done.stderr)
        done = self.cluster.hai("list", "-a", "-u", "nobody-here")
        self.assertEqual(done.code, 0)
        self.assertIn("there is no user nobody-here", done.err)
        done = self.cluster.hai("list", "-g", "nope")
        self.assertEqual((done.code, done.out.count("\n")), (0, 1))
        self.assertIn("no node is in a group nope; the groups are: ", done.err)


if __name__ == "__main__":
    unittest.main()
