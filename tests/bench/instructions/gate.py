#!/usr/bin/env python3
"""Fails when a planning pass, a submit, or the reports of a job on all nodes that runs and ends, take over a tenth
more instructions than is on record.

Instructions, counted by callgrind, do not depend on what else the machine does. They do on compiler
and libraries, so the record says of which they are, and another compiler skips the gate (exit code
77). After a change that is worth its price, or a gain that should stay: --update.

--planted: the same with a fifth more work in each piece, which must not pass.

usage: gate.py PROGRAM COMPILER [--update | --planted]
       gate.py PROGRAM --grow    how both grow with nodes and queued jobs; minutes
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).with_name("record.json")
ALLOWED = 1.10
SKIPPED = 77
LOOP_INSTRUCTIONS = 3  # of one turn of the planted loop


def count(program, what, *size, planted=0):
    """Instructions of one piece of work, the mean of those the program does."""
    environment = {**os.environ, "HAI_PLANTED_LOOPS": str(planted // LOOP_INSTRUCTIONS)}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        words = ["valgrind", "--tool=callgrind", f"--toggle-collect=measured_{what}"]
        words += [f"--callgrind-out-file={out}", program, what, *map(str, size)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=7200, env=environment)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        total = int(re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.M).group(1))
        if total == 0:
            sys.exit(f"measured_{what} was never called")
        return round(total / int(done.stdout))


def grow(program):
    print("| nodes | queued | a pass | a submit |\n|---|---|---|---|")
    for nodes in (125, 1_250, 12_500):
        submit = count(program, "submit", nodes)
        for queued in (1_000, 10_000, 100_000):
            instructions = count(program, "pass", nodes, queued)
            print(f"| {nodes:,} | {queued:,} | {instructions:,} | {submit:,} |", flush=True)


def main():
    program, compiler = sys.argv[1:3]
    if compiler == "--grow":
        return grow(program)
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return SKIPPED
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    is_planted = "--planted" in sys.argv
    measured = {
        what: count(program, what, *size, planted=record[what] // 5 if is_planted else 0)
        for what, size in (("pass", ()), ("submit", ()), ("gang", (1_000,)))
    }
    if "--update" in sys.argv:
        RECORD.write_text(json.dumps({"compiler": compiler, **measured}, indent=2) + "\n")
        print(f"recorded: {measured}; before: {record}")
        return 0
    if record.get("compiler") != compiler:
        print(f"skipped: the record is of {record.get('compiler')}, this is {compiler}")
        return SKIPPED
    failures = 0
    for what, instructions in measured.items():
        share = instructions / record[what]
        verdict = "too many" if share > ALLOWED else "ok"
        failures += share > ALLOWED
        print(f"{what}: {instructions:,} instructions, {record[what]:,} on record, "
              f"{(share - 1) * 100:+.1f} %: {verdict}")
    if is_planted:
        return 0 if failures == len(measured) else 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
