#!/usr/bin/env python3
"""Measures what docs/operations/health.md says of faults: plays health_test and the others several
times with the limits of production, and prints medians and ranges as a table.

usage: HAI_BIN=build/release/bin tests/e2e/health_table.py [--runs 3]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ("health_test", "health_network_test", "mass_fault_test", "repair_test")


def play(runs, table):
    environment = {
        **os.environ, "HAI_HEALTH_LIMITS": "default", "HAI_HEALTH_TABLE": str(table),
    }  # fmt: skip
    for _ in range(runs):
        for module in MODULES:
            subprocess.run(
                [sys.executable, "-B", "-m", "unittest", module],
                cwd=HERE, env=environment, check=True, stdout=sys.stderr,
            )  # fmt: skip


def seconds(values):
    """ "3.1 s (2.9–3.4)"; nothing if it never came."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = min(known), max(known)
    return f"{statistics.median(known):.1f} s ({low:.1f}–{high:.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "rows"
        play(options.runs, table)
        # In the order of the tests.
        tests = "".join((HERE / f"{module}.py").read_text(encoding="utf-8") for module in MODULES)
        rows = {}
        for line in table.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows.setdefault(row["what"], []).append(row)
    print("| what | the job | runs again after | the node | after |\n|---|---|---|---|---|")
    for what, taken in sorted(rows.items(), key=lambda row: tests.index(f'"{row[0]}"')):
        again, opened = (seconds(row[key] for row in taken) for key in ("again", "opened"))
        print(f"| {what} | {taken[0]['job']} | {again} | {taken[0]['node']} | {opened} |")


if __name__ == "__main__":
    main()
