"""A cluster of one node on a machine with NVIDIA GPUs: nothing simulated. Skipped where there is no
GPU. What a machine without GPUs cannot show: NVML's readings, the validator's CUDA programs, and
programs on GPUs that are suspended, moved and ended. tests/gpu brings it to a machine that has one."""

import csv
import json
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.request

from cluster import HERE, SDK, ClusterTest, eventually, programs

TRAIN = HERE / "programs" / "gpu_train.py"
STEPS = 300


def has_torch():
    done = subprocess.run(
        [sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True
    )
    return done.returncode == 0


def ask_nvidia(*fields):
    """What nvidia-smi says of each GPU: [{field: value}]."""
    query = ["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    return [dict(zip(fields, map(str.strip, row))) for row in csv.reader(said.splitlines())]


class GpuTest(ClusterTest):
    shape = {"name": "gpu", "nodes": 1, "gpus": 0}

    @classmethod
    def setUpClass(cls):
        if not list(pathlib.Path("/proc/driver/nvidia/gpus").glob("*")):
            raise unittest.SkipTest("this machine has no NVIDIA GPU")
        super().setUpClass()

    def run_python(self, text, *options):
        return self.cluster.json("exec", sys.executable, "-c", text, "--", "-n", 1, *options)["id"]

    def log_of(self, job):
        self.cluster.wait_end(job, seconds=300)
        return self.cluster.log(job)

    def rest(self, path):
        request = urllib.request.Request(self.cluster.status()["http"].rstrip("/") + path)
        token = (self.cluster.data / "admin.token").read_text().strip()
        request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request, timeout=20, context=self.cluster.browser()) as reply:
            return json.load(reply)

    def test_the_node_is_as_nvidia_says(self):
        gpus = ask_nvidia("name")
        node = self.cluster.json("nodes")[0]
        self.assertEqual((node["gpus"], node["gpu_model"]), (len(gpus), gpus[0]["name"]))

    def test_every_gpu_is_read_and_well(self):
        config = next(self.cluster.data.rglob("agent.yaml"))
        asked = subprocess.run(
            [programs() / "hai-agent", "--config", config, "--check-health", "-o", "json"],
            capture_output=True, text=True, timeout=120,
        )
        checks = {
            (each["name"], each["subject"]): each
            for each in json.loads(asked.stdout)
            if each["name"].startswith("gpu")
        }
        self.assertEqual({each["state"] for each in checks.values()} - {"ok", "unknown"}, set(), checks)
        self.assertEqual(checks["gpu_state", "gpu 0"]["text"], "answers")
        warm = int(ask_nvidia("temperature.gpu")[0]["temperature.gpu"])
        said = int(re.match(r"(\d+) C", checks["gpu_temperature", "gpu 0"]["text"])[1])
        self.assertLess(abs(said - warm), 10)
        lanes = ask_nvidia("pcie.link.width.current")[0]["pcie.link.width.current"]
        self.assertEqual(checks["gpu_pcie_link", "gpu 0"]["text"], f"{lanes} PCIe lanes")

    def test_the_validator_runs_its_cuda_programs(self):
        log = self.log_of(self.cluster.json("exec", programs() / "hai-validator", "--quick", "--", "-n", 1)["id"])
        report = json.loads(log.split("HAI-VALIDATION ")[1])
        tests = {(each["name"], each["metric"]): each for each in report["tests"]}
        for name in ("gpu_memory", "gemm"):
            each = tests[name, "slowest_gpu"]
            self.assertEqual(each["verdict"], "ok", each)
            self.assertGreater(each["value"], 0)
        self.assertEqual(tests["link", "gpus"]["value"], len(ask_nvidia("name")))

    def test_who_asks_for_no_gpu_gets_none(self):
        look = (
            "import ctypes, os; os.environ.pop('CUDA_VISIBLE_DEVICES', 0); c = ctypes.CDLL('libcuda.so.1'); "
            "c.cuInit(0); n = ctypes.c_int(-1); c.cuDeviceGetCount(ctypes.byref(n)); print('sees', max(0, n.value)); "
            "open('/dev/nvidia0', 'rb+', 0); print('opened')"
        )
        said = self.log_of(self.run_python(look))
        self.assertIn(f"sees {len(ask_nvidia('name'))}", said)
        self.assertIn("opened", said)
        without = self.run_python(look, "--gpus", "none")
        self.cluster.wait_end(without, "failed")
        self.assertIn("sees 0", self.cluster.log(without))
        self.assertIn("PermissionError", self.cluster.log(without), "also where it does as if it had one")

    @unittest.skipUnless(has_torch(), "no PyTorch with CUDA")
    def test_a_training_that_makes_room_ends_with_the_same_weights(self):
        folder = self.cluster.work / "checkpoints"
        folder.mkdir()
        alone = subprocess.run(
            [sys.executable, TRAIN, folder, str(STEPS), "0"],
            capture_output=True, text=True, env={**self.cluster.environment(), "SDK": str(SDK)}, timeout=300,
        )
        self.assertEqual(alone.returncode, 0, alone.stderr)
        spec = self.cluster.spec(
            "train", sys.executable, f"{TRAIN} {folder} {STEPS} 0.05", nodes=1, priority="low",
            environments={"SDK": str(SDK)},
        )
        train = self.cluster.run(spec)
        for least in (10, 30):
            eventually("it trains", lambda: (self.cluster.job(train)["progress_step"] or 0) > least, 120)
            urgent = self.cluster.json(
                "exec", "nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader",
                "--", "-n", 1, "-p", "very_high",
            )["id"]
            self.assertEqual(self.log_of(urgent).strip(), "", "nobody else is on the GPU")
        self.assertEqual(self.log_of(train).splitlines()[-1], alone.stdout.splitlines()[-1])
        job = self.cluster.job(train)
        self.assertEqual((job["suspend_count"], job["attempt"], job["lost_gpu_seconds"] < 5), (2, 3, True))

    @unittest.skipUnless(has_torch(), "no PyTorch with CUDA")
    def test_what_a_killed_program_had_is_free_for_the_next(self):
        takes = (
            "import torch, time; _, total = torch.cuda.mem_get_info(); "
            "x = torch.empty(int(total * 0.9), dtype=torch.uint8, device='cuda'); x.fill_(1); "
            "torch.cuda.synchronize(); print('taken', flush=True); {}"
        )
        stays = self.run_python(takes.format("time.sleep(600)"), "--name", "hog")
        eventually("it has the memory", lambda: "taken" in self.cluster.log(stays), 120)
        self.cluster.ok("stop", stays)
        self.assertIn("taken", self.log_of(self.run_python(takes.format(""))))
        self.cluster.wait_end(stays, "stopped")

    @unittest.skipUnless(has_torch(), "no PyTorch with CUDA")
    def test_how_busy_its_gpu_is_shows(self):
        busy = self.run_python(
            "import torch\nx = torch.randn(8192, 8192, device='cuda')\nwhile True: x = (x @ x).clamp(-1, 1)",
            "--name", "busy",
        )

        def percent():
            ranks = self.rest(f"/api/v1/jobs/{busy}/usage")["ranks"]
            return [value for rank in ranks for value in rank["gpu_percent"] if value]

        eventually("its GPU is busy", lambda: max(percent(), default=0) > 50, 90)
        self.cluster.ok("stop", busy)
        self.cluster.wait_end(busy, "stopped")

    @unittest.skipUnless(has_torch(), "no PyTorch with CUDA")
    def test_one_that_hangs_with_its_gpu_is_ended_with_evidence(self):
        program = self.cluster.file(
            "hang.py",
            "import os, sys, threading, torch\nsys.path.insert(0, os.environ['SDK'])\nimport hai\n"
            "torch.ones(1, device='cuda')\nhai.report_progress(1)\nprint('hangs', flush=True)\n"
            "threading.Event().wait()\n",
        )
        hang = self.cluster.run(
            self.cluster.spec(
                "hang", sys.executable, str(program), nodes=1,
                environments={"SDK": str(SDK)}, options={"watchdog": "5s"},
            )
        )
        eventually("the hang is noticed", lambda: self.cluster.json("events", hang, "--kind", "job_requeued"), 150)
        evidence = self.cluster.log(hang, "--attempt", 1)
        self.assertRegex(evidence, r"(?m)^GPU 0: \d+ % busy, processes \d+$")
        self.cluster.ok("stop", hang)


if __name__ == "__main__":
    unittest.main()
