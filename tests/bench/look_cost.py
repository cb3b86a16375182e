#!/usr/bin/env python3
"""What it costs a submit that a node looks first at what the job names by a path: the whole of `hai run` of a job in a
registry's image, and of one with a mount, in turns. Needs what tests/e2e/image_site.py needs.

usage: look_cost.py [--jobs 20]; HAI_BIN as the tests
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from image_site import ImageSite  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=20)
    jobs = parser.parse_args().jobs
    if getattr(ImageSite, "__unittest_skip__", False):
        sys.exit(ImageSite.__unittest_skip_why__)
    ImageSite.setUpClass()
    try:
        site, times = ImageSite(), {"without a mount": [], "with a mount": []}
        for _ in range(jobs + 1):
            for number, (what, taken) in enumerate(times.items()):
                mounts = [f"{site.site}/data"] if number else []
                spec = site.spec(f"job-{number}-{len(taken)}", "true", site.name, mounts, gpus=1)
                begin = time.monotonic()
                done = site.cluster.hai("run", "-", stdin=json.dumps(spec), env=site.env)
                assert done.code == 0, f"{what}: {done}"
                taken.append((time.monotonic() - begin) * 1e3)
    finally:
        ImageSite.doClassCleanups()
    for what, taken in times.items():
        taken = sorted(taken[1:])
        print(f"{what}: {statistics.median(taken):.0f} ms, p90 {taken[int(len(taken) * 0.9)]:.0f}")


if __name__ == "__main__":
    main()
