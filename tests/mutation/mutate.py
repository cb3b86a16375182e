#!/usr/bin/env python3
"""Plants small random bugs in a copy of the tree, one at a time, and asks the tests that cover the file whether they
notice. Says who survived; docs/operations/chaos-sim.md has more.

usage: mutate.py [--count N] [--seed N] [--files GLOB] [--list] [--again] [--chaos N] [--jobs N] [--build DIR]
"""

import argparse
import hashlib
import os
import sys
import time
from pathlib import Path

from covering import target_files, tests_of
from mutants import mutants_of, read_equivalents
from results import Results, report
from workshop import BuildFailed, Workshop

ROOT = Path(__file__).resolve().parents[2]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=200, help="mutants to draw (default 200; 0 = all)")
    parser.add_argument("--seed", type=int, help="of the draw (default: from the clock)")
    parser.add_argument("--files", metavar="GLOB", help="only of these files, headers too: 'server/plan/*'")
    parser.add_argument("--list", action="store_true", help="only say which would be planted")
    parser.add_argument("--again", action="store_true", help="ask once more for those that survived before, and for no others")
    parser.add_argument("--chaos", type=int, default=0, metavar="N", help="ask N seeds of hai-sim chaos for survivors")
    parser.add_argument("--jobs", type=int, default=1, help="of ninja (default 1)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "mutation", metavar="DIR",
                        help="keeps the copy, its build and the results (default build/mutation)")
    return parser.parse_args()


def draw(options, seed):
    """Without those known to change nothing, in random order: by a hash, so that a mutant keeps its place whatever
    becomes of the others."""
    known = read_equivalents()
    found = []
    for file in target_files(ROOT, options.files):
        found += mutants_of(file, (ROOT / file).read_text(encoding="utf-8"))
    left = [mutant for mutant in found if (mutant.file, mutant.before, mutant.after) not in known]
    print(f"seed {seed}: {len(found)} mutants, {len(found) - len(left)} of them known to be equivalent")
    return sorted(left, key=lambda mutant: hashlib.sha1(f"{seed} {mutant.key}".encode()).digest())


def judge(workshop, mutant, chaos):
    """(outcome, who noticed)"""
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    with workshop.planted(mutant.file, mutant.apply(text)):
        try:
            for program in tests_of(mutant.file):
                workshop.build(program)
                if failure := workshop.failure_of(program):
                    return "killed", failure
            for program in tests_of(mutant.file):
                if failure := workshop.failure_of_slow(program):
                    return "killed", failure
            if chaos > 0:
                workshop.build("hai-sim")
                if failure := workshop.failure_of_chaos(chaos):
                    return "killed", failure
        except BuildFailed:
            return "did not compile", ""
    return "survived", ""


def check_untouched_tree(workshop, programs):
    """Tests that fail anyhow would kill everything."""
    for program in programs:
        if program in workshop.usual:
            continue
        workshop.build(program)
        if failure := workshop.measure(program):
            sys.exit(f"the tests fail without any mutant: {failure}")


def run(options, mutants, results):
    todo = results.unjudged(mutants, options.again)
    if not todo:
        return
    workshop = Workshop(ROOT, options.build, options.jobs)
    for number, mutant in enumerate(todo, 1):
        check_untouched_tree(workshop, tests_of(mutant.file))
        began = time.monotonic()
        outcome, by = judge(workshop, mutant, options.chaos)
        results.add(mutant, outcome, by, time.monotonic() - began)
        print(f"{number}/{len(todo)} {mutant.file}:{mutant.line} {mutant.operator}: {outcome} {by}", flush=True)


def main():
    options = parse_arguments()
    seed = int(time.time()) if options.seed is None else options.seed
    drawn = draw(options, seed)
    if options.list:
        for mutant in drawn[:options.count or None]:
            print(f"{mutant.file}:{mutant.line} {mutant.operator}\n  - {mutant.before}\n  + {mutant.after}")
        return 0
    os.nice(10)
    options.build.mkdir(parents=True, exist_ok=True)
    results = Results(options.build / f"results-{seed}.jsonl")
    mutants = drawn[:options.count or None]
    run(options, mutants, results)
    # Those that did not compile make room for others, so that the score stands on as many as asked for.
    while not options.again and 0 < (missing := options.count - results.count_compiled(mutants)):
        if len(mutants) == len(drawn):
            break
        mutants = drawn[:len(mutants) + missing]
        run(options, mutants, results)
    return report(ROOT, mutants, results)


if __name__ == "__main__":
    sys.exit(main())
