"""What a node's CDI files say of GPUs, in ranks that run in container images: made-up files for simulated GPUs, and
one of this machine's libraries in the driver's place."""

import json
import os
import pathlib
import re
import tarfile
import unittest

from cluster import eventually
from image_site import ImageSite
from oci_image import entry, layer, write_layout

LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/libz.so.1")  # every Debian machine has it
HELD = "echo $$; while [ ! -e {gate} ]; do sleep 0.1; done"
SHOW = ('echo "gpus=$CUDA_VISIBLE_DEVICES all=$OF_ALL own=$OF_GPU image=$OF_IMAGE job=$OF_JOB path=$LD_LIBRARY_PATH";'
        'cat /opt/driver/word /opt/driver/own; ls -l /opt/driver/lib /usr/lib/hai-driver; wc -c </usr/lib/hai-driver/libz.so.1;'
        'touch /opt/driver/word || echo read-only')


class ImageCdiTest(ImageSite):
    nodes = ("node-1",)
    cdi = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.image = f"oci:{cls.layout}:image"
        cls.folder = cls.site / "cdi"
        cls.folder.mkdir()
        cls.file = cls.folder / "gpu.yaml"
        for name in ("all", "gpu-0", "gpu-1"):
            (cls.site / name).write_text(f"of {name}\n")

    def setUp(self):
        self.write()

    def write(self, devices=range(8), mounts=(), text=None):
        """In the form of `nvidia-ctk cdi generate`, which knows JSON as well; YAML is tried in cdi_test.cpp."""
        def mount(source, to):
            return {"hostPath": str(source), "containerPath": to, "options": ["ro", "nosuid", "nodev", "bind"]}

        def hook(*words):
            return {"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook", "args": ["nvidia-cdi-hook", *words]}

        def device(number):
            own = [mount(self.site / f"gpu-{number}", "/opt/driver/own")] if number < 2 else []
            return {"name": str(number), "containerEdits": {"env": [f"OF_GPU={number}"], "mounts": own,
                                                            "deviceNodes": [{"path": "/dev/null"}]}}

        self.file.write_text(text if text is not None else json.dumps({
            "cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [device(number) for number in devices],
            "containerEdits": {
                "env": ["OF_ALL=yes", "OF_IMAGE=driver", "OF_JOB=driver"],
                "mounts": [mount(self.site / "all", "/opt/driver/word"),
                           mount(LIBRARY.resolve(), "/opt/driver/lib/libz-of-node.so"), *(mount(*each) for each in mounts)],
                "hooks": [hook("create-symlinks", "--link", "libz.so.1::/opt/driver/lib/libz.so"),
                          hook("update-ldcache", "--folder", "/opt/driver/lib"),
                          hook("chmod", "--mode", "755", "--path", "/dev/dri"),
                          {"hookName": "createContainer", "path": f"{self.site}/mischief", "args": ["mischief"]}],
            }}, indent=2))

    def test_a_rank_gets_what_is_said_of_its_own_gpus(self):
        mark = self.site / "mischief-done"
        (self.site / "mischief").write_text(f"#!/bin/sh\ntouch {mark}\n")
        (self.site / "mischief").chmod(0o755)
        gate = self.site / "data" / "gate"
        first = self.start("gpu-0", f"{SHOW}; {HELD.format(gate=gate)}", self.image, [f"{self.site}/data"], gpus=1,
                           environments={"OF_JOB": "job", "LD_LIBRARY_PATH": "/mine"})
        self.cluster.wait_running(first)
        second = self.said_by("gpu-1", SHOW, self.image)
        gate.touch()
        self.cluster.wait_end(first)
        log = self.cluster.log(first)
        self.assertRegex(log, r"all=yes own=0 image=driver job=job path=/mine:/usr/lib/hai-driver\n")
        self.assertIn("of all\nof gpu-0\n", log)
        self.assertRegex(second, r"all=yes own=1 image=driver job=driver path=/usr/lib/hai-driver\n")
        self.assertIn("of all\nof gpu-1\n", second)
        for line in ("libz.so -> libz.so.1", "libz.so.1 -> libz-of-node.so", "libz.so.1 -> /opt/driver/lib/libz-of-node.so",
                     str(LIBRARY.stat().st_size), "read-only", "is left out: hook mischief"):
            self.assertIn(line + "\n", second)
        self.assertFalse(mark.exists(), "no hook is run")

    def test_a_link_in_the_image_leads_nowhere_outside(self):
        layout = self.site / "links"
        write_layout(layout, [self.base, layer([
            entry("opt/driver", kind=tarfile.SYMTYPE, link="../../../../etc"),
            entry("usr/lib", kind=tarfile.SYMTYPE, link=f"{self.site}/closed"),
        ])])
        folders = ("/etc", self.site / "closed")
        before = [sorted(os.listdir(folder)) for folder in folders]
        self.assertIn("of all\n", self.said_by("links", "cat /opt/driver/word", f"oci:{layout}:image"))
        self.assertEqual([sorted(os.listdir(folder)) for folder in folders], before)

    def test_a_shell_has_it_too(self):
        job = self.start("shell", "echo $$; exec sleep 600", self.image, gpus=1)
        self.cluster.wait_running(job)
        seen = self.cluster.hai("shell", job, "--", "sh", "-c", SHOW, env=self.env)
        self.assertIn("all=yes own=0 image=driver job=driver path=/usr/lib/hai-driver\nof all\nof gpu-0\n", seen.out, seen)
        self.cluster.ok("stop", job)

    def test_without_gpus_or_without_such_files_all_is_as_before(self):
        self.assertIn("all= own= image=yes job= path=\n", self.said_by("no-gpu", SHOW, self.image, gpus="none"))
        self.write(text="cdiVersion: 0.5.0\nkind: other.example/nic\ndevices: [{name: a}]\n")
        self.assertIn("all= own= image=yes job= path=\n", self.said_by("other", SHOW, self.image))

    def test_what_is_wrong_is_the_nodes_trouble_and_said_in_one_line(self):
        for name, why, write in (
            ("broken", rf"this node's CDI file {self.file}, line 3: not valid YAML: a \[ is not closed", {"text": "cdiVersion: 0.5.0\nkind: [a\n"}),
            ("missing", rf"this node's CDI files have no nvidia.com/gpu=0, but 5 in {self.file}", {"devices": [5]}),
            ("stale", rf"this node's CDI files mount {self.site}/gone: No such file", {"mounts": [(self.site / "gone", "/x")]}),
        ):
            with self.subTest(name):
                self.write(**write)
                job = self.start(name, "true", self.image, gpus=1)
                line = re.compile(why)
                eventually("its log says it", lambda: line.search(self.cluster.hai("logs", job).out), seconds=60)
                status = self.cluster.job(job)
                self.assertNotEqual(status["state"], "failed", status)
                eventually("the job's reason says it", lambda: line.search(json.dumps(self.cluster.job(job))), seconds=60)
                self.write()
                self.cluster.wait_end(job, seconds=120)
        self.file.chmod(0o666)
        self.addCleanup(self.file.chmod, 0o644)
        job = self.start("open", "true", self.image, gpus=1)
        eventually("its log says it", lambda: "can be written by others than root" in self.cluster.hai("logs", job).out, seconds=60)
        self.cluster.ok("stop", job)


if __name__ == "__main__":
    unittest.main()
