"""A private copy of the tree with a build of its own, in which mutants are planted. The checkout is only read."""

import contextlib
import filecmp
import json
import os
import re
import resource
import shutil
import subprocess
import time

from covering import data_of

SKIPPED = shutil.ignore_patterns(".git", "build", "node_modules", "dist", "__pycache__")
# Compiles as fast as -O0, and the property tests run several times as fast.
FLAGS = "-O1 -g0 -w"
BUILD_SECONDS_MAX = 1800
# A mutant may loop or grow for ever.
MEMORY_MAX = 4 << 30
OUTPUT_MAX = 64 << 20
PATIENCE = 5  # times as long as without a mutant, and
PATIENCE_SECONDS = 10  # so much more
SLOW_SECONDS = 0.5  # tests that take longer are asked last


class BuildFailed(Exception):
    pass


def copy_if_changed(source, target):
    """Files that are the same keep their times, so that nothing is compiled again for them."""
    if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_MAX, OUTPUT_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Workshop:
    def __init__(self, root, folder, jobs):
        self.tree = folder / "tree"
        self.build_folder = folder / "build"
        self.log = folder / "log"
        self.jobs = jobs
        self.usual = {}  # seconds of each program's tests without a mutant
        self.slow = {}  # names of its slow tests
        # A run that was killed may have left a mutant; it differs from the checkout and is replaced.
        shutil.copytree(root, self.tree, ignore=SKIPPED, copy_function=copy_if_changed, dirs_exist_ok=True)
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1")
        if not (self.build_folder / "build.ninja").is_file():
            self._configure()

    def _configure(self):
        command = ["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build_folder, "-DCMAKE_BUILD_TYPE=Debug",
                   f"-DCMAKE_CXX_FLAGS_DEBUG={FLAGS}"]
        if shutil.which("ccache"):
            command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        if shutil.which("mold"):
            command.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold")
        if self._run(command, BUILD_SECONDS_MAX) != 0:
            raise SystemExit(f"cmake failed, see {self.log}")

    def _run(self, command, seconds, **options):
        """The exit status; None if it took too long."""
        with self.log.open("wb") as log:
            try:
                return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                      env=self.environment, timeout=seconds, **options).returncode
            except subprocess.TimeoutExpired:
                return None

    @contextlib.contextmanager
    def planted(self, file, text):
        path = self.tree / file
        original = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(original, encoding="utf-8")

    def build(self, target):
        command = ["ninja", "-C", self.build_folder, f"-j{self.jobs}", target]
        if self._run(command, BUILD_SECONDS_MAX) != 0:
            raise BuildFailed(target)

    def _program(self, name):
        return self.build_folder / "bin" / name

    def _test(self, name, command, pattern):
        """"" if it passes, else who noticed. `name`: its first word is the program."""
        seconds = self.usual[name] * PATIENCE + PATIENCE_SECONDS if name in self.usual else BUILD_SECONDS_MAX
        status = self._run(command, seconds, preexec_fn=limit, cwd=self.tree)
        if status == 0:
            return ""
        found = re.search(pattern, self.log.read_text(encoding="utf-8", errors="replace"))
        why = "too slow" if status is None else found.group(1) if found else f"exit status {status}"
        return f"{name.split()[0]}: {why}"

    def _google_test(self, name, option):
        command = [self._program(name.split()[0]), "--gtest_brief=1", "--gtest_fail_fast", option]
        return self._test(name, command, r"\[  FAILED  \] (\S+)")

    def measure(self, program):
        """Runs it without a mutant, to know how long its tests take. "" or what fails."""
        began = time.monotonic()
        if data_of(self.tree, program) is not None:
            failure = self.failure_of(program)
            self.usual[program] = time.monotonic() - began
            return failure
        times = self.log.with_suffix(".json")
        if failure := self._google_test(f"{program} all", f"--gtest_output=json:{times}"):
            return failure
        seconds = {f"{test['classname']}.{test['name']}": float(test["time"].rstrip("s"))
                   for suite in json.loads(times.read_text())["testsuites"] for test in suite["testsuite"]}
        self.slow[program] = [name for name, took in seconds.items() if took > SLOW_SECONDS]
        self.usual[f"{program} slow"] = sum(took for took in seconds.values() if took > SLOW_SECONDS)
        self.usual[program] = sum(seconds.values()) - self.usual[f"{program} slow"]
        return ""

    def failure_of(self, program):
        """Of its tests that are quick, or of all that take data."""
        data = data_of(self.tree, program)
        if data is not None:
            return self._test(program, [self._program(program), *data], r"FAILED \S*?([^/ ]+\.\w+(?::\d+)?)")
        return self._google_test(program, f"--gtest_filter=-{':'.join(self.slow[program])}")

    def failure_of_slow(self, program):
        if not self.slow.get(program):
            return ""
        return self._google_test(f"{program} slow", f"--gtest_filter={':'.join(self.slow[program])}")

    def failure_of_chaos(self, seeds):
        command = [self._program("hai-sim"), "chaos", "--fail-fast", "--seeds", str(seeds)]
        return self._test("hai-sim", command, r"(?m)^(seed \d+)")
