"""PyTorch of the nodes themselves, without an image: `ninja torch` (python3-torch, some 250 MB). Two nodes with two GPUs
each train with DistributedDataParallel, are suspended twice and lose a node, and end as one process alone would."""

import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from cluster import ClusterTest, eventually  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's PyTorch
HOLDS = (60, 110, 160)
RANKS = range(4)


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0


@unittest.skipUnless(has_torch(), f"{PYTHON} has no PyTorch: apt-get install python3-torch")
class TorchNodeTest(ClusterTest):
    shape = {"name": "ddp", "nodes": 3, "gpus": 2}

    def test_suspended_twice_and_a_node_killed(self):
        shutil.copy(HERE / "torch_train.py", self.cluster.work / "train.py")
        spec = self.cluster.spec(
            "ddp",
            "train.py",
            nodes=2,
            environments={
                "PATH": "/usr/bin:/bin",
                "WORK": str(self.cluster.work),
                "HOLDS": ",".join(map(str, HOLDS)),
                "OMP_NUM_THREADS": "1",
                "GLOO_SOCKET_IFNAME": "lo",  # all nodes of this cluster are one machine
            },
            options={"launch": "per_gpu", "env_style": "torch"},
        )
        job = self.cluster.run(spec)
        for attempt in (1, 2):
            self.holds(job, attempt)
            self.cluster.ok("suspend", job)
            self.cluster.wait_state(job, "suspended")
            self.cluster.ok("resume", job)
        self.holds(job, 3)
        lost = self.cluster.job(job)["nodes"][1]
        self.cluster.kill(f"node:{lost}")
        eventually("it is fenced", lambda: self.cluster.hai("fence", lost, "--yes").code == 0, 60)
        self.cluster.wait_end(job, seconds=180)
        told = self.cluster.job(job)
        self.assertEqual((told["attempt"], told["suspend_count"], told["requeue_count"]), (4, 2, 1), told)
        self.assertEqual(told["checkpoint"]["step"], HOLDS[-1])
        last = self.log(job, 4)
        print(last, flush=True)
        for attempt, step in enumerate((0, *HOLDS), 1):
            text = self.log(job, attempt)
            # What the lost node had written is with it.
            for rank in RANKS[:2] if attempt == 3 else RANKS:
                self.assertRegex(text, rf"rank {rank} of 4: torch 1\.\S+, sum 10\n")
                self.assertIn(f"rank {rank} begins at step {step}\n", text)
        for rank in RANKS:
            self.assertIn(f"rank {rank} ends with 3.000 -2.000 0.500, as one process: True\n", last)

    def holds(self, job, attempt):
        told = f"holds at step {HOLDS[attempt - 1]}\n"
        eventually(told, lambda: told in self.cluster.hai("logs", job, "--attempt", attempt).out, seconds=120)

    def log(self, job, attempt):
        return self.cluster.ok("logs", job, "--attempt", attempt, "-r", "all")


if __name__ == "__main__":
    unittest.main()
