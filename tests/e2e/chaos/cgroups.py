"""The control groups of a world's ranks. Other worlds of this machine have theirs in the same folders:
an agent names its own by a hash of its data directory.
"""

import pathlib
import time

ROOT = pathlib.Path("/sys/fs/cgroup")


def prefix_of(data_directory):
    """As common/digest.h has it: FNV-1a of the length and the text."""
    text = str(data_directory).encode()
    value = 0xCBF29CE484222325
    for byte in len(text).to_bytes(8, "little") + text:
        value = ((value ^ byte) * 0x100000001B3) & (1 << 64) - 1
    return f"{value:016x}"


def cgroups_of(world):
    """[path] of all that are there now, of nodes and of second agents under their names."""
    folders = [world.root / "nodes" / node for node in world.nodes]
    return cgroups_below([*folders, *(world.root / "strangers").iterdir()])


def cgroups_below(data_directories):
    """[path] of the ranks of agents with these data directories."""
    prefixes = {prefix_of(folder) for folder in data_directories}
    parents = [ROOT / "hai", *ROOT.glob("*/hai")]
    return [
        str(group)
        for parent in parents
        if parent.is_dir()
        for group in parent.iterdir()
        if group.name.split(".")[0] in prefixes
    ]


def remove_cgroup(path, seconds=5):
    """Whose processes were just killed: the kernel takes a moment to bury them."""
    deadline = time.monotonic() + seconds
    while pathlib.Path(path).is_dir():
        try:
            pathlib.Path(path).rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
