"""A cluster whose nodes run container images: a registry on loopback, folders of a site, and a user."""

import json
import os
import pathlib
import shutil
import tarfile
import tempfile
import unittest

from cluster import ClusterTest
from oci_image import Registry, SlowRegistry, busybox_layer, entry, layer, write_layout

ANN, BOB = "nobody", "daemon"  # users that every Debian machine has
NODES = ("node-1", "node-2", "node-3", "node-4")
NEEDS = ("skopeo", "umoci", "docker-registry")


@unittest.skipUnless(os.geteuid() == 0, "only root may give ranks a root folder of their own")
@unittest.skipUnless(all(map(shutil.which, NEEDS)), f"needs {', '.join(NEEDS)}")
class ImageSite(ClusterTest):
    nodes = NODES
    cdi = False  # whether nodes read CDI files, in site/cdi

    @classmethod
    def setUpClass(cls):
        # Not below /tmp, which ranks have of their own.
        cls.site = pathlib.Path(tempfile.mkdtemp(prefix="hai-e2e-image-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.site)
        cls.site.chmod(0o755)
        for name in ("data", "closed", "site"):
            (cls.site / name).mkdir()
        (cls.site / "data" / "word").write_text("of the data\n")
        (cls.site / "data").chmod(0o777)
        (cls.site / "site" / "word").write_text("of the site\n")
        (cls.site / "closed").chmod(0o700)
        settings = cls.site / "settings.yaml"
        settings.write_text(
            f"isolation: strict\nconfinement: {{system_users: [{ANN}, {BOB}]}}\n"
            f"images: {{mounts: [{cls.site}/site], allowed_mounts: [{cls.site}], patience: 15s,"
            f" cdi: [{cls.site / 'cdi' if cls.cdi else ''}]}}\n"
        )
        cls.registry = Registry(cls.site)
        cls.addClassCleanup(cls.registry.close)
        cls.slow = SlowRegistry(cls.registry.host)
        cls.addClassCleanup(cls.slow.close)
        root = cls.site / "cluster"
        containers = root / "home" / ".config" / "containers"
        containers.mkdir(parents=True)
        containers.joinpath("registries.conf").write_text(cls.registry.settings + cls.slow.settings)
        cls.shape = {"name": "image", "nodes": len(cls.nodes), "root": root}
        cls.layout = cls.site / "layout"
        word = entry("opt/image/word", b"inside\n")
        cls.base = busybox_layer()
        cls.word = layer([entry("opt/image", mode=0o755, kind=tarfile.DIRTYPE), word])
        write_layout(cls.layout, [cls.base, cls.word])
        cls.digest = cls.registry.push(cls.layout, "team/box:1")
        cls.name = f"{cls.registry.host}/team/box:1"
        cls.up_options = tuple(w for node in cls.nodes for w in ("--agent-config", f"{node}={settings}"))
        # So short that no image which takes its time would come up in it: jobs in images have image_timeout.
        cls.up_options += ("--knob", "launch_timeout=2s")
        super().setUpClass()
        cls.cluster.work.chmod(0o777)
        cls.env = cls.cluster.as_user(ANN)
        cls.cluster.people[ANN] = cls.env

    def spec(self, name, script, image, mounts=(), **more):
        self.cluster.file(name, "#!/bin/sh\n" + script)
        spec = self.cluster.spec(name, name, **more)
        spec["resource"]["image"] = image
        if mounts:
            spec["resource"]["mounts"] = list(mounts)
        return spec

    def start(self, name, script, image, mounts=(), **more):
        return self.cluster.run_as(ANN, self.spec(name, script, image, mounts, **more))

    def refused(self, name, image, mounts=()):
        """What is said to who submits it; no job is made."""
        before = len(self.cluster.json("list", "-a"))
        result = self.cluster.hai("run", "-", stdin=json.dumps(self.spec(name, "true", image, mounts)),
                                  env=self.env)
        self.assertNotEqual(result.code, 0, result)
        self.assertEqual(len(self.cluster.json("list", "-a")), before)
        return result.err.strip()

    def fails(self, name, image, mounts=(), script="true"):
        """Why a job failed to start."""
        return self.cluster.wait_end(self.start(name, script, image, mounts, gpus=1), "failed")["end_reason"]

    def said_by(self, name, script, image, mounts=(), **more):
        job = self.start(name, script, image, mounts, **{"gpus": 1, **more})
        self.cluster.wait_end(job)
        return self.cluster.log(job)
