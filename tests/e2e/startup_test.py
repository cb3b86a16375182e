"""How fast `hai` starts: in CPU time, which a busy machine does not change much, with room to spare.
A library that initialises itself slowly, or a parser that has become slow, fails here."""

import os
import re
import subprocess
import unittest

from cluster import ClusterTest, programs

RUNS = 7
# Measured (docs/performance.md): a few milliseconds each.
CPU_SECONDS_MAX = 0.15


class StartupTest(ClusterTest):
    shape = {"name": "startup", "nodes": 1}

    def cpu_seconds(self, *words):
        """Of the cheapest of several runs: what the program needs, not what disturbed it."""
        times = []
        for _ in range(RUNS):
            process = subprocess.Popen(
                [str(programs() / "hai"), *words],
                stdout=subprocess.DEVNULL,
                env=self.cluster.environment(),
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0, words)
            times.append(usage.ru_utime + usage.ru_stime)
        return min(times)

    def test_it_starts_at_once(self):
        cache = programs().parent / "CMakeCache.txt"
        if cache.exists() and re.search(r"^SANITIZE:\w+=.", cache.read_text(), re.M):
            self.skipTest("sanitizers are not fast")
        for words in (["--version"], ["--help"], ["list"], ["nodes"], ["__complete", "logs", ""]):
            with self.subTest(words):
                self.assertLess(self.cpu_seconds(*words), CPU_SECONDS_MAX)


if __name__ == "__main__":
    unittest.main()
