"""PyTorch in a container image, in a job of two nodes: `ninja torch-image`. The image is made here of Debian's packages
(some 300 MB from the machine's mirror) and kept in BUILD/torch_image for the next time."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from cluster import ClusterTest, eventually  # noqa: E402

ANN = "nobody"  # a user that every Debian machine has
NODES = ("node-1", "node-2")
NEEDS = ("mmdebstrap", "skopeo", "umoci")
PACKAGES = "python3-torch,python3-numpy"
# What no program needs.
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*")


def make_root(tar):
    """A Debian with PyTorch, as a tar."""
    part = tar.with_suffix(".part.tar")
    options = ["--aptopt=APT::Install-Recommends \"false\""] + [f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT]
    began = time.monotonic()
    made = subprocess.run(["mmdebstrap", "--variant=minbase", f"--include={PACKAGES}", *options, "bookworm", str(part)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise unittest.SkipTest(f"mmdebstrap has made no Debian: {made.stderr.strip().splitlines()[-1]}")
    part.rename(tar)
    print(f"Debian with {PACKAGES}: {tar.stat().st_size >> 20} MiB in {time.monotonic() - began:.0f} s", flush=True)


def build(folder):
    """An OCI layout with one image, `image`."""
    layout = folder / "layout"
    if layout.exists():
        return layout
    folder.mkdir(parents=True, exist_ok=True)
    tar, part = folder / "root.tar", folder / "layout.part"
    shutil.rmtree(part, ignore_errors=True)
    if not tar.exists():
        make_root(tar)
    began = time.monotonic()
    for words in (("init", "--layout", part), ("new", "--image", f"{part}:image"),
                  ("raw", "add-layer", "--image", f"{part}:image", tar),
                  ("config", "--image", f"{part}:image", "--config.env", "OF_IMAGE=torch")):
        subprocess.run(["umoci", *map(str, words)], check=True)
    part.rename(layout)
    tar.unlink()
    bytes_ = sum(each.stat().st_size for each in layout.rglob("*"))
    print(f"an image of it: {bytes_ >> 20} MiB in {time.monotonic() - began:.0f} s", flush=True)
    return layout


@unittest.skipUnless(os.geteuid() == 0, "only root may give ranks a root folder of their own")
@unittest.skipUnless(all(map(shutil.which, NEEDS)), f"needs {', '.join(NEEDS)}")
class TorchTest(ClusterTest):
    @classmethod
    def setUpClass(cls):
        cls.layout = build(pathlib.Path(os.environ["BUILD"]) / "torch_image")
        # Not below /tmp, which ranks have of their own.
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hai-torch-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)
        settings = folder / "settings.yaml"
        settings.write_text(f"isolation: strict\nconfinement: {{system_users: [{ANN}]}}\n")
        cls.image = folder / "image"
        shutil.copytree(cls.layout, cls.image)
        for path in (cls.image, *cls.image.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        cls.shape = {"name": "torch", "nodes": len(NODES), "root": folder / "cluster"}
        cls.shape["root"].mkdir()
        cls.up_options = tuple(word for node in NODES for word in ("--agent-config", f"{node}={settings}"))
        super().setUpClass()
        cls.cluster.work.chmod(0o777)

    def test_two_nodes_train_in_it_and_are_suspended_in_between(self):
        shutil.copy(HERE / "torch_train.py", self.cluster.work / "train.py")
        spec = self.cluster.spec("train", "train.py", nodes=len(NODES), gpus=1,
                                 environments={"WORK": str(self.cluster.work), "HOLDS": "100", "OMP_NUM_THREADS": "1"},
                                 options={"launch": "per_gpu", "env_style": "torch"})
        spec["resource"]["image"] = f"oci:{self.image}:image"
        began = time.monotonic()
        job = self.cluster.run_as(ANN, spec)
        self.cluster.wait_running(job, seconds=300)
        print(f"runs after {time.monotonic() - began:.0f} s, with two nodes that got the image", flush=True)
        eventually("it holds", lambda: "holds at step 100" in self.log(job, 1), seconds=120)
        self.cluster.ok("suspend", job)
        self.cluster.wait_state(job, "suspended")
        self.cluster.ok("resume", job)
        self.cluster.wait_end(job, seconds=120)
        print(self.log(job, 1) + self.log(job, 2), flush=True)
        for rank in range(len(NODES)):
            first, second = self.log(job, 1, rank), self.log(job, 2, rank)
            self.assertRegex(first, rf"rank {rank} of 2: torch 1\.\S+, sum 3\n")
            self.assertIn(f"rank {rank} begins at step 0\n", first)
            self.assertIn(f"rank {rank} begins at step 100\n", second)
            self.assertIn(f"rank {rank} ends with 3.000 -2.000 0.500, as one process: True\n", second)

    def log(self, job, attempt, rank=None):
        words = [] if rank is None else ["-r", rank]
        return self.cluster.hai("logs", job, "--attempt", attempt, *words).out


if __name__ == "__main__":
    unittest.main()
