"""Tests of what faults do, played beside each other in one cluster: each has nodes of its own, in a
group and a leaf of its own, and is begun when the cluster is up.

With HAI_HEALTH_LIMITS=default the nodes keep the limits that they have in production, and
HAI_HEALTH_TABLE names a file for what was measured (health_table.py).
"""

import concurrent.futures
import functools
import json
import os
import sys
import time

from cluster import Cluster, ClusterTest
from hardware import GPUS, Hardware
from timeline import Timeline

HAS_DEFAULTS = os.environ.get("HAI_HEALTH_LIMITS") == "default"
# Ports are looked at each 5 s: the patience must see a whole leaf.
_QUICK = {"ib_down_seconds": 6, "mount_silences": 2, "nvlink_start_seconds": 0}
LIMITS = {} if HAS_DEFAULTS else _QUICK
KNOBS = [] if HAS_DEFAULTS else ["--knob", "fault_patience=6s"]
# Many nodes of few are broken here at once, each by itself.
SHARED_KNOBS = ["--knob", "mass_fault_nodes=15", "--knob", "validate_period=0s"]

HOOK = """#!/bin/sh
# $1 is the node's folder: what its site does when hai asks for a repair
echo "$HAI_REPAIR" >> "$1/hooks_run"
if [ -x "$1/hook" ]; then exec "$1/hook"; fi
"""
# $1: ends when the file is there; saves and leaves when asked to.
WORKER = """
trap 'echo saved; exit 85' USR1
echo begun
while [ ! -e "$1" ]; do sleep 0.1; done
"""


def beside(group, nodes=2, hooks=True, **settings):
    """The test is played with so many nodes `group`-1 … while others are."""

    def wrap(body):
        @functools.wraps(body)
        def test(self):
            self.begun[body.__name__].result()

        test.scene = {"group": group, "nodes": nodes, "hooks": hooks, "settings": settings}
        test.body = body
        return test

    return wrap


class Scene:
    """The nodes and jobs of one test, and when its fault began."""

    def __init__(self, cluster, timeline, group, hardware):
        self.cluster, self.timeline, self.group = cluster, timeline, group
        self.hardware = hardware
        self.stop = cluster.work / f"{group}.stop"
        self.told = cluster.work / f"{group}.told"
        self.began = self.mark = None

    # -- jobs

    def run(self, name="job", script=WORKER, arguments="", **options):
        """A job that saves and leaves when asked to; runs when this returns."""
        entry = self.cluster.file(f"{self.group}-{name}.sh", "#!/bin/sh\n" + script)
        suspend = {"suspend": {"signal": "SIGUSR1", "grace": "20s"}}
        options.setdefault("options", suspend)
        spec = self.cluster.spec(
            f"{self.group}-{name}", entry, f"{self.stop} {arguments}", group=self.group, **options
        )
        job = self.cluster.run(spec)
        self.timeline.wait(f"job/{job}", "attempt_running", seconds=90)
        return job

    def where(self, job):
        """The hardware below the job's first rank."""
        [first, *_] = self.cluster.job(job)["nodes"]
        return next(each for each in self.hardware if each.node == first)

    # -- faults

    def breaks(self, break_it):
        self.began, self.mark = time.time(), self.timeline.last()
        break_it()

    def after(self, event):
        """Seconds since the fault."""
        return event["time"] - self.began

    def node_says(self, hardware, kind, says="", after=None, seconds=75):
        mark = self.mark if after is None else after
        return self.timeline.wait(f"node/{hardware.node}", kind, says, mark, seconds)

    def job_says(self, job, kind, says="", after=None, seconds=75):
        mark = self.mark if after is None else after
        return self.timeline.wait(f"job/{job}", kind, says, mark, seconds)

    def runs_again(self, job):
        """Seconds from the fault until all its ranks ran again."""
        return self.after(self.job_says(job, "attempt_running"))

    def opens(self, hardware, seconds=150):
        """Seconds from the fault until the node took jobs again."""
        return self.after(
            self.node_says(hardware, "node_scheduling_changed", "open", seconds=seconds)
        )

    def node(self, hardware):
        return self.cluster.node(hardware.node)

    def measured(self, what, node, job, again, opened):
        """A row of the table in docs/operations/health.md: what happened, and after how many
        seconds the job ran again and the node was what it says."""
        if os.environ.get("HAI_HEALTH_TABLE"):
            row = {"what": what, "node": node, "job": job, "again": again, "opened": opened}
            with open(os.environ["HAI_HEALTH_TABLE"], "a", encoding="utf-8") as table:
                table.write(json.dumps(row) + "\n")

    def incident(self, hardware):
        """The one that is open about the node, with its notes; None if there is none."""
        for incident in self.cluster.json("incidents"):
            if hardware.node in incident["nodes"]:
                return incident
        return None


def settings_of(cluster, folder, scene):
    """Of a node's agent."""
    hook = cluster.file("hook.sh", HOOK)
    more = scene["settings"]
    # Two cores stand for many machines: what they measure beside each other says nothing.
    settings = {"validator": {"options": "--tests link"}}
    if scene["hooks"]:
        settings["repair"] = {key: f"{hook} {folder}" for key in ("reset_gpus", "reboot")}
    settings["health"] = {**more.get("health", {}), "limits": LIMITS}
    return {**settings, **more.get("agent", {})}


class Stage(ClusterTest):
    """Makes the nodes of all tests that are marked `beside`, and begins to play them."""

    knobs = SHARED_KNOBS

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster("health", gpus=GPUS)
        cls.addClassCleanup(cls.close_cluster)
        played = {name: test for name, test in vars(cls).items() if hasattr(test, "scene")}
        folder = cls.cluster.work / "hardware"
        folder.mkdir()
        hardware = {}
        for test in played.values():
            scene = test.scene
            names = [f"{scene['group']}-{i + 1}" for i in range(scene["nodes"])]
            hardware[scene["group"]] = [
                Hardware(folder, name, settings_of(cls.cluster, folder / name, scene))
                for name in names
            ]
        nodes = [
            {"name": each.node, "group": group, "zone": "A", "leaf": group, "gpus": GPUS}
            for group, nodes in hardware.items()
            for each in nodes
        ]
        cls.cluster.topology = cls.cluster.file("topology.yaml", json.dumps(nodes))
        options = [word for nodes in hardware.values() for each in nodes for word in each.options()]
        cls.cluster.up(*KNOBS, *cls.knobs, *options)
        cls.timeline = Timeline(cls.cluster)
        pool = concurrent.futures.ThreadPoolExecutor(len(played))
        cls.addClassCleanup(pool.shutdown)
        cls.begun = {}
        for name, test in played.items():
            group = test.scene["group"]
            scene = Scene(cls.cluster, cls.timeline, group, hardware[group])
            cls.begun[name] = pool.submit(test.body, cls(name), scene)

    def moved(self, scene, job, node, requeues=0, suspends=0):
        """The job runs its second attempt without this node."""
        now = scene.cluster.job(job)
        self.assertEqual((now["requeue_count"], now["suspend_count"]), (requeues, suspends), now)
        self.assertEqual(now["attempt"], 2)
        self.assertNotIn(node.node, now["nodes"])

    def mended(self, scene, node, hooks):
        """It takes jobs again, after these repairs, and nothing is open about it."""
        self.assertEqual(node.hooks(), hooks)
        self.assertIn(
            "as they should be", scene.node_says(node, "node_validated", "passed")["text"]
        )
        now = scene.node(node)
        self.assertEqual((now["scheduling"], now["health"]), ("open", "ok"), now)
        self.assertIsNone(scene.incident(node))

    def report(self):
        """The others are still playing: nothing is cleared away."""
        group = getattr(type(self), self._testMethodName).scene["group"]
        for subject in sorted({event["subject"] for event in list(self.timeline.events)}):
            story = self.timeline.story(subject)
            if group in subject or group in story:
                print(f"--- {subject}\n{story}", file=sys.stderr, flush=True)
