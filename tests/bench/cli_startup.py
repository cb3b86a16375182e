#!/usr/bin/env python3
"""How fast `hai` starts: wall and CPU milliseconds of 20 runs each, against the current context.

usage: cli_startup.py HAI [RUNS]"""

import os
import statistics
import subprocess
import sys
import time

COMMANDS = (["--version"], ["--help"], ["list"], ["nodes"], ["__complete", "li"], ["__complete", "logs", ""])


def measure(program, words, runs):
    wall, cpu = [], []
    for _ in range(runs):
        begin = time.monotonic()
        process = subprocess.Popen(
            [program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"hai {' '.join(words)} ended with {process.returncode}")
        wall.append(time.monotonic() - begin)
        cpu.append(usage.ru_utime + usage.ru_stime)
    return wall, cpu


def words_of(seconds):
    low, middle, high = (1000 * x for x in (min(seconds), statistics.median(seconds), max(seconds)))
    return f"{middle:6.1f} ms ({low:.1f}-{high:.1f})"


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    print(f"{runs} runs each, load {os.getloadavg()[0]:.1f}")
    for words in COMMANDS:
        wall, cpu = measure(sys.argv[1], words, runs)
        name = " ".join(word or "''" for word in words)
        print(f"hai {name:22} wall {words_of(wall):28} CPU {words_of(cpu)}")


if __name__ == "__main__":
    main()
