#!/usr/bin/env python3
"""Which chaos runs prove the code as it is.

    proof.py digest                 the digest of the code that the runs are about
    proof.py check                  fails unless enough fresh seeds are recorded for that digest
    proof.py record DIGEST KIND FIRST SEEDS FAILED UNKNOWABLE SECONDS
                                    appends a run to recorded_runs.txt; KIND: plain, goes-back, host, twice

The digest is of what a change must not alter unproven: leases, fences, peers, orders, reports, sessions, recovery
and the simulator. Comments, blanks and blank lines count for nothing.
"""

import datetime
import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORD = HERE / "recorded_runs.txt"
FILES = [
    "agent/core/*.cpp", "agent/core/*.h", "common/agent_messages.*", "common/health.*", "common/loop*.h",
    "server/model/*.cpp", "server/model/*.h", "server/control/**/*.cpp", "server/control/**/*.h",
    "server/plan/carry_out.*",
    "server/store/mem_*.cpp", "server/store/mem_*.h", "sim/*.cpp", "sim/*.h",
]
NEEDED = {"plain": 20_000, "goes-back": 2_000, "host": 2_000}


def code_only(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"(?m)(^|\s)//.*$", "", text)
    return re.sub(r"\s+", "", text)


def digest():
    whole = hashlib.sha256()
    for pattern in FILES:
        for path in sorted(ROOT.glob(pattern)):
            whole.update(str(path.relative_to(ROOT)).encode())
            whole.update(code_only(path.read_text()).encode())
    return whole.hexdigest()[:16]


def recorded(of):
    runs = {kind: [] for kind in NEEDED}  # first seed and the one after the last
    for line in RECORD.read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#") or words[0] != of:
            continue
        run = dict(word.split("=", 1) for word in words[2:])
        if int(run["failed"]) != 0:
            return f"a recorded run of {of} has failures: {line}", {}
        runs.setdefault(run["kind"], []).append((int(run["first"]), int(run["first"]) + int(run["seeds"])))
    return None, {kind: count_different(each) for kind, each in runs.items()}


def count_different(runs):
    """How many seeds are in at least one of the runs, which may overlap."""
    seeds, end = 0, 0
    for first, after in sorted(runs):
        seeds += max(0, after - max(first, end))
        end = max(end, after)
    return seeds


def check():
    now = digest()
    wrong, seeds = recorded(now)
    if wrong:
        return wrong
    lacking = [f"{kind}: {seeds[kind]} of {needed}" for kind, needed in NEEDED.items() if seeds[kind] < needed]
    if not lacking:
        return None
    return (f"the protocol or the simulator ({now}) has changed since the last recorded run of fresh seeds "
            f"({'; '.join(lacking)}): tests/sim/long.sh --seeds 20000")


def main(arguments):
    if arguments[:1] == ["digest"]:
        print(digest())
    elif arguments[:1] == ["check"]:
        wrong = check()
        print(wrong or "proven")
        return 1 if wrong else 0
    elif arguments[:1] == ["record"] and len(arguments) == 8:
        of, kind, first, seeds, failed, unknowable, seconds = arguments[1:]
        today = datetime.datetime.now(datetime.timezone.utc).date()
        with RECORD.open("a") as record:
            record.write(f"{of} {today} kind={kind} first={first} seeds={seeds} failed={failed} "
                         f"unknowable={unknowable} seconds={seconds}\n")
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
