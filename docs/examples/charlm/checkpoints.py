"""Checkpoints of the sample job: one file each, whole or absent, never half.

First line: a tag and the SHA-256 of the rest, so that a torn or foreign file is told from a good
one. The rest is JSON; floats travel as base64 of their bytes, exactly.
"""

import base64
import hashlib
import json
import os
import re

from . import model

TAG = "charlm-checkpoint-1"
KEPT = 3
NAME = re.compile(r"step-(\d{8})\.ckpt")


def write_atomically(path, data):
    """After this the file is `data`, whatever crashes when: either the old content or the new."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)  # The new name, too, must survive a power cut.
    finally:
        os.close(handle)


def pack(net, rng, progress, shape):
    """All that the rest of the run depends on. `progress` has at least `step`, the number of
    finished steps; `shape` must be equal for a run to continue from it."""
    version, numbers, gauss = rng.getstate()
    content = {
        "progress": progress,
        "shape": shape,
        "rng": [version, list(numbers), gauss],
        "weights": base64.b64encode(model.to_bytes(net.weights)).decode(),
        "velocity": base64.b64encode(model.to_bytes(net.velocity)).decode(),
    }
    body = json.dumps(content).encode()
    return f"{TAG} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def unpack(data, net, rng, shape):
    """Puts the state into `net` and `rng` and returns the progress; ValueError if it is none of
    ours."""
    head, _, body = data.partition(b"\n")
    if head != f"{TAG} {hashlib.sha256(body).hexdigest()}".encode():
        raise ValueError("damaged, or not a checkpoint")
    content = json.loads(body)
    if content["shape"] != shape:
        raise ValueError(f"made with {content['shape']}, this run has {shape}")
    net.weights = model.from_bytes(base64.b64decode(content["weights"]))
    net.velocity = model.from_bytes(base64.b64decode(content["velocity"]))
    version, numbers, gauss = content["rng"]
    rng.setstate((version, tuple(numbers), gauss))
    return content["progress"]


def save(folder, step, data):
    """Writes the checkpoint, drops all but the last few before it, returns the path. Later ones
    stay: they are there when the run went back to an older one, and will be overwritten on the
    way."""
    path = os.path.join(folder, f"step-{step:08d}.ckpt")
    write_atomically(path, data)
    for old in [other for other in newest_first(folder) if other <= path][KEPT:]:
        try:
            os.unlink(old)
        except OSError:
            pass  # Disk space only; the next save tries again.
    return path


def newest_first(folder):
    try:
        names = [name for name in os.listdir(folder) if NAME.fullmatch(name)]
    except FileNotFoundError:
        return []
    return [os.path.join(folder, name) for name in sorted(names, reverse=True)]


def load(reported, folder, net, rng, shape, say):
    """(data, progress, path) of the checkpoint to continue from, or (b"", None, "") to start from
    zero. The reported one goes first: the platform counts on it. A bad file is named and passed
    over."""
    for path in ([reported] if reported else []) + newest_first(folder):
        try:
            with open(path, "rb") as file:
                data = file.read()
            return data, unpack(data, net, rng, shape), path
        except (OSError, ValueError, KeyError, TypeError) as error:
            say(f"checkpoint {path} not used: {error}")
    return b"", None, ""
