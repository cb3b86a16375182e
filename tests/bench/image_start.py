#!/usr/bin/env python3
"""How long a job takes from its submit until its program runs, without an image and in images that are on
the node already, in turns. Needs root, skopeo, umoci, docker-registry and busybox-static.

usage: image_start.py [--jobs 30]
"""

import argparse
import datetime
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from cluster import Cluster  # noqa: E402
from oci_image import Registry, busybox_layer, write_layout  # noqa: E402

USER = "nobody"


def at(events, kind):
    text = next(event["time"] for event in events if event["kind"] == kind)
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def start(cluster, name, image):
    """Milliseconds from the submit until its program runs, by the events."""
    cluster.file(name, "#!/bin/sh\ntrue\n")
    spec = cluster.spec(name, name, gpus=1)
    if image:
        spec["resource"]["image"] = image
    job = cluster.run_as(USER, spec)
    cluster.wait_end(job)
    events = cluster.json("events", job)
    return (at(events, "attempt_running") - at(events, "job_submitted")) * 1e3


def cluster_with(registry, root):
    containers = root / "cluster" / "home" / ".config" / "containers"
    containers.mkdir(parents=True)
    containers.joinpath("registries.conf").write_text(registry.settings)
    settings = root / "settings.yaml"
    settings.write_text(f"isolation: strict\nconfinement: {{system_users: [{USER}]}}\n")
    cluster = Cluster(name="bench", nodes=1, root=root / "cluster")
    cluster.up("--agent-config", f"node-1={settings}")
    cluster.work.chmod(0o777)
    return cluster


def measure(cluster, images, jobs):
    took = {kind: [] for kind in images}
    for number in range(jobs + 1):  # the first gets them
        for place, (kind, image) in enumerate(images.items()):
            value = start(cluster, f"job-{number}-{place}", image)
            if number > 0:
                took[kind].append(value)
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hai-bench-", dir="/var/tmp") as folder:
        root = pathlib.Path(folder)
        root.chmod(0o755)
        registry = Registry(root)
        cluster = None
        try:
            write_layout(root / "layout", [busybox_layer()])
            registry.push(root / "layout", "box:1")
            cluster = cluster_with(registry, root)
            images = {"without an image": "", "in a registry's": f"{registry.host}/box:1",
                      "in a layout's": f"oci:{root}/layout:image"}
            took = measure(cluster, images, options.jobs)
        finally:
            if cluster:
                cluster.close()
            registry.close()
    for kind, values in took.items():
        ordered = sorted(values)
        print(json.dumps({"started": kind, "jobs": len(values), "median_ms": round(statistics.median(values), 1),
                          "p90_ms": round(ordered[int(0.9 * len(ordered))], 1), "max_ms": round(ordered[-1], 1)}))


if __name__ == "__main__":
    main()
