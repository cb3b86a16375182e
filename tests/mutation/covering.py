"""Which files are mutated, and which tests cover them: the likeliest to notice come first."""

from fnmatch import fnmatch
from pathlib import Path

# Programs that take data files as arguments; all others are GoogleTest's.
DATA_OF = {"scenario_test": "tests/scenario/*.scn", "golden_test": "tests/golden/*.txt"}
NO_DATA = {"CMakeLists.txt"}

# The first pattern that matches counts.
TESTS_OF = [
    ("agent/core/*", ["agent_core_test", "agent_heartbeat_test", "agent_os_test", "scenario_test", "control_test"]),
    ("server/model/*", ["model_test", "control_test", "plan_test", "golden_test", "plan_property_test", "scenario_test"]),
    ("server/plan/*", ["plan_test", "golden_test", "plan_property_test", "control_test", "scenario_test"]),
    ("server/control/*", ["control_test", "scenario_test", "model_test"]),
    ("common/spec/*", ["spec_test"]),
    ("common/config/*", ["config_test", "spec_test"]),
    ("common/json/*", ["json_test"]),
    ("common/log.cpp", ["log_test"]),
    ("common/asio_loop.cpp", ["asio_loop_test"]),
    ("common/bisection.cpp", ["common_test", "health_property_test", "control_test"]),
    ("common/fleet_statistics.cpp", ["common_test", "health_property_test", "control_test"]),
    ("common/*", ["common_test", "control_test"]),
]
# One line of a header is compiled into everything, so these are mutated only when asked for.
SUFFIX = ".cpp"


def tests_of(file):
    return next(tests for pattern, tests in TESTS_OF if fnmatch(file, pattern))


def has_tests(root, file):
    """In common only what has a test of its own name counts."""
    if not file.startswith("common/"):
        return True
    return (root / "tests/unit/common" / (Path(file).stem + "_test.cpp")).is_file()


def target_files(root, glob=None):
    files = []
    for folder in ("server/model", "server/plan", "server/control", "agent/core", "common"):
        for path in sorted((root / folder).rglob("*")):
            file = path.relative_to(root).as_posix()
            if path.suffix not in (".cpp", ".h") or (glob is None and path.suffix != SUFFIX):
                continue
            if has_tests(root, file) and (glob is None or fnmatch(file, glob)):
                files.append(file)
    return files


def data_of(root, program):
    pattern = DATA_OF.get(program)
    if pattern is None:
        return None
    return [path for path in sorted(root.glob(pattern)) if path.name not in NO_DATA]
