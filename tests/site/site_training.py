"""A training on two nodes beside all faults, which must end with the very weights of one that nothing
happened to (docs/examples/train.py)."""

import itertools
import json
import pathlib

from ha_load import Stream
from install import NODES

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "examples"
STEP_SECONDS = 0.25


class Training:
    def __init__(self, site, client, seconds):
        """Takes about so long if it is not interrupted."""
        self.site, self.folder = site, site.root / "training"
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.words = ["--steps", str(max(40, int(seconds / STEP_SECONDS))), "--checkpoint-every", "20"]
        self.stream = Stream(client, [("training", self.spec(), 0.0)], 0)

    def files(self, name):
        folder = self.folder / name
        return [f"--checkpoint-dir={folder}.checkpoints", f"--result={folder}.json", f"--loss-curve={folder}.curve"]

    def spec(self):
        words = [*self.words, f"--step-seconds={STEP_SECONDS}", *self.files("under-faults")]
        return {
            "version": 2,
            "name": "training",
            "spec": {
                "workspace": str(EXAMPLES),
                "entrypoint": "train.py",
                "parameters": " ".join(words),
            },
            "resource": {"group": "training", "node_count": 2, "gpus_per_node": 1},
            # A rank whose peer's machine lost power may see that before the server does, and ends.
            "options": {"suspend": {"grace": "60s"}, "restart": {"on_failure": True, "max": 20}},
        }

    def run_alone(self):
        """The same on one of these machines, in one process, as fast as it can."""
        words = " ".join([*self.words, *self.files("alone")])
        script = f"cd {EXAMPLES}; PYTHONDONTWRITEBYTECODE=1 python3 train.py {words}"
        self.site[NODES[0]].run(script, seconds=600)

    def result(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())

    def curve(self, name):
        return (self.folder / f"{name}.curve").read_text().splitlines()

    def job(self):
        number = self.stream.acknowledged[0].answers[0]
        return next(job for job in self.site.admin.jobs() if job["id"] == number)

    def has_ended(self):
        return bool(self.stream.acknowledged) and self.job()["state"] in ("succeeded", "failed", "stopped")

    def complaints(self):
        """[] if it has ended bit for bit right."""
        state = self.job()["state"]
        if state != "succeeded":
            return [f"the training ended as {state}"]
        found, wanted = self.result("under-faults"), self.result("alone")
        said = []
        for what in ("steps", "loss", "sha256"):
            if found[what] != wanted[what]:
                said.append(f"the training ended with {what} {found[what]}, alone with {wanted[what]}")
        pairs = itertools.zip_longest(self.curve("under-faults"), self.curve("alone"))
        differing = [number for number, (one, other) in enumerate(pairs) if one != other]
        if differing:
            said.append(f"the training's losses differ from step {differing[0]} on")
        return said
