"""Jobs with some of a node's GPUs stay on the CPUs beside these, and are told what is near: a recorded
machine of two GPUs at two NUMA nodes, each with a network card."""

import json
import os
import unittest

import cluster
from hardware import BUS_IDS, GPUS, Hardware

SAYS = """
python3 - <<'PYTHON'
import os
names = ("CUDA_VISIBLE_DEVICES", "HAI_GPU_NUMA", "HAI_GPU_NICS")
told = [os.environ.get(name, "none") for name in names]
print("told", *told, sorted(os.sched_getaffinity(0)))
PYTHON
sleep 600
"""


class NearGpusTest(cluster.ClusterTest):
    @classmethod
    def setUpClass(cls):
        cls.cpus = sorted(os.sched_getaffinity(0))
        if len(cls.cpus) < 2:
            raise unittest.SkipTest("one CPU alone cannot be two NUMA nodes")
        cls.cluster = cluster.Cluster("near", nodes=1)
        cls.addClassCleanup(cls.close_cluster)
        hardware = cls.hardware = Hardware(cls.cluster.work / "hardware", "near-1", {})
        for gpu, bus in enumerate(BUS_IDS):
            device = hardware.folder / "sys" / "devices" / f"pci{gpu}" / f"{bus}.0"
            device.mkdir(parents=True)
            (device / "numa_node").write_text(f"{gpu}\n")
            (device / "local_cpulist").write_text(f"{cls.cpus[gpu]}\n")
            card = device.parent / "card"
            card.mkdir()
            (card / "numa_node").write_text(f"{gpu}\n")
            known = hardware.folder / "sys" / "bus" / "pci" / "devices"
            known.mkdir(parents=True, exist_ok=True)
            (known / device.name).symlink_to(device)
            port = hardware.folder / "sys" / "class" / "infiniband" / f"mlx5_{1 - gpu}"
            (port / "device").symlink_to(card)
        nodes = [{"name": "near-1", "zone": "A", "leaf": "a1", "gpus": GPUS}]
        cls.cluster.topology = cls.cluster.file("topology.yaml", json.dumps(nodes))
        cls.cluster.up(*hardware.options())

    def test_two_nodes_cannot_have_the_same_real_gpus(self):
        refused = self.cluster.hai(
            "dev", "up", "--name", "two", "--data", self.cluster.root / "two", "--nodes", 2, "--gpus", 0,
            "--proc-root", self.hardware.folder / "proc",
        )
        self.assertEqual((refused.code, refused.out), (4, ""), refused)
        self.assertIn("node-1 and node-2 would have the same real GPUs: give --nodes 1", refused.err)
        self.assertFalse((self.cluster.root / "two" / "cluster.json").exists())

    def told(self, *options):
        job = self.cluster.exec(SAYS, *options)
        self.cluster.wait_running(job)
        lines = lambda: [line for line in self.cluster.log(job).splitlines() if "told" in line]
        cluster.eventually("it speaks", lines)
        return job, lines()[0].split("told ")[1]

    def test_shares_are_bound_and_whole_nodes_are_told(self):
        first, said = self.told("--gpus", 1)
        second, other = self.told("--gpus", 1)
        expected = {f"{gpu} {gpu} mlx5_{1 - gpu} [{self.cpus[gpu]}]" for gpu in range(GPUS)}
        self.assertEqual({said, other}, expected)
        inside = self.cluster.hai("shell", first, "--", "nproc")
        self.assertEqual(inside.out.strip(), "1", inside)
        self.cluster.ok("stop", first, second)
        self.cluster.wait_state(first, "stopped")
        self.cluster.wait_state(second, "stopped")
        whole, said = self.told("--gpus", GPUS)
        self.assertEqual(said, f"0,1 0,1 mlx5_1,mlx5_0 {self.cpus}")
        self.cluster.ok("stop", whole)
        many, said = self.told("--gpus", 1, "--cpus", 2)
        self.assertTrue(said.endswith(str(self.cpus)), f"two CPUs are not beside one GPU: {said}")
        self.cluster.ok("stop", many)
        none, said = self.told("--gpus", "none")
        self.assertEqual(said, f" none none {self.cpus}")
        self.cluster.ok("stop", none)


if __name__ == "__main__":
    unittest.main()
