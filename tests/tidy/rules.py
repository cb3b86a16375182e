"""The rules of check.py as data. Paths are from the repository root; a folder stands for all below it."""

# Who may include whom. A file belongs to the longest folder that matches; it may include its own folder and these.
_SERVER_LOGIC = ["common", "server/model", "server/plan", "server/control"]
# What each room of server/control may use, beside the rooms before it.
_CONTROL_BASE = [
    "common", "server/model", "server/plan", "server/control/command.h",
    "server/control/node_names.h", "server/control/sessions.h",
]
# Events go to the outside as they are stored.
_STORED_JSON = ["server/store/json_codec.h"]
# Logs as files, for whoever replays them.
_STORED_LOG = [
    "server/store/json_codec.h", "server/store/event_line.h", "server/store/event_log.h", "server/store/line_file.h",
]
MAY_INCLUDE = {
    "common": [],
    "proto": ["common"],
    "server/model": ["common"],
    "server/plan": ["common", "server/model"],
    "server/control": ["common", "server/model", "server/plan"],  # its rooms: see BASE_OF_ROOMS
    "server/control/attempt": _CONTROL_BASE,
    "server/control/health": [*_CONTROL_BASE, "server/control/attempt"],
    "server/control/nodes": [*_CONTROL_BASE, "server/control/attempt", "server/control/health"],
    "server/control/verbs": [
        *_CONTROL_BASE, "server/control/attempt", "server/control/health", "server/control/nodes",
    ],
    "server/control/engine": _SERVER_LOGIC,
    "server/directory": ["common", "server/model"],
    "server/auth": [*_SERVER_LOGIC, "server/directory"],
    "server/store": _SERVER_LOGIC,
    "server/api": [*_SERVER_LOGIC, "server/auth", "server/directory", "proto", *_STORED_JSON],
    "server/rpc": [*_SERVER_LOGIC, "server/auth", "server/api", "proto", *_STORED_JSON],
    "server/http": [*_SERVER_LOGIC, "server/auth", "server/api", "proto", *_STORED_JSON],
    "server": ["common", "proto"],  # main and what it is composed of
    "agent/core": ["common"],
    "agent/os": ["common", "agent/core"],
    "agent/health": ["common", "agent/os"],
    "agent/hang": ["common", "agent/os", "agent/health", "agent/shim/rank_user.h"],
    "agent/rpc": ["common", "agent/core", "proto"],
    "agent/shell": ["common", "agent/os", "proto"],
    "agent/login": ["common", "agent/os", "agent/shim"],
    "agent/shim": ["common", "agent/core", "agent/os"],
    "agent": ["common", "proto"],  # main
    "cli": ["common", "proto"],
    "validator": ["common", "agent/health", "agent/os"],
    "sim": [
        *_SERVER_LOGIC,
        "server/store/mem_store.h",
        *_STORED_LOG,
        "agent/core",
        "agent/health/fault_ledger.h",  # pure, as the table
        "agent/health/xid_table.h",
        "sim/hunt/hunt_command.h",  # main's
    ],
    "sim/hunt": [*_SERVER_LOGIC, "server/store/mem_store.h", "agent/core", "sim"],
}

# Files right in these folders are the base of the rooms below, and include none of them.
BASE_OF_ROOMS = ["server/control"]

# Headers that are slow to compile or carry a decision: where they may be included, and whether by a header too.
# (pattern of the included path, folders or files, allowed in headers)
HEAVY_HEADERS = [
    (r"grpc(pp|\+\+)?/", ["server/rpc", "agent/rpc", "agent/shell", "proto", "cli"], True),
    (r"(google/protobuf/|hai/v1/(?!(api|shell)\.pb))", ["server/rpc", "server/http", "agent/rpc", "agent/shell", "proto", "cli"], True),
    (r"hai/v1/api\.pb", ["server/rpc", "server/api", "server/http", "proto", "cli"], True),
    (r"hai/v1/shell\.pb", ["server/rpc", "server/api", "server/http", "agent/rpc", "agent/shell", "proto", "cli"], True),
    (r"pqxx/", ["server/store"], True),
    (r"libpq-fe\.h", ["server/store"], True),
    (r"boost/beast", ["server/http"], True),
    (
        r"boost/asio",
        ["common/asio_loop.cpp", "common/tcp_listen.h", "common/tcp_listen.cpp", "agent/os", "agent/shim", "agent/rpc", "agent/shell", "agent/fleet", "server/rpc", "server/http"],
        True,
    ),
    (r"nlohmann/json\.hpp", ["server", "agent", "cli", "sim", "proto", "validator"], False),
    (r"CLI/", ["server", "agent", "cli", "sim", "validator"], False),
    (r"spdlog/", ["common/log.cpp"], False),
    (r"yaml-cpp/", ["common/config/yaml_tree.cpp"], False),
]

# Folders whose code must give the same result for the same input: the simulator replays them.
PURE_FOLDERS = ["server/model", "server/plan", "server/control", "agent/core"]
BANNED_IN_PURE = [
    (r"\b(system|steady|high_resolution)_clock\b", "reads a clock; take `now` as an argument or use Loop"),
    (r"\bstd::(j?thread|async|this_thread)\b", "uses threads; one loop thread owns all state"),
    (r"\bstd::(\w+_)?mutex\b|\bstd::condition_variable", "locks; one loop thread owns all state"),
    (r"\bstd::random_device\b|\bstd::mt19937", "draws random numbers; take an Rng"),
    (r"\bs?rand\s*\(", "draws random numbers; take an Rng"),
    (r"\b(secure_)?getenv\b", "reads the environment; take the value as an argument"),
    (r"\b(sleep_for|sleep_until|usleep|nanosleep)\b", "sleeps; use Loop::call_after"),
    (r"\b(clock_gettime|gettimeofday)\b|\btime\s*\(\s*(nullptr|NULL|0)\s*\)", "reads a clock; take `now`"),
]
BANNED_INCLUDES_IN_PURE = {
    "common/asio_loop.h": "is a real clock; use common/loop.h",
    "common/boot_clock.h": "is a real clock; use common/loop.h",
    "chrono": None,  # allowed: durations are chrono
    "thread": "uses threads",
    "mutex": "locks",
    "random": "differs between machines; use common/rng.h",
    "fstream": "does I/O",
    "iostream": "does I/O",
    "filesystem": "does I/O",
}
# model and plan return reasons; the controller may log them.
NEVER_LOG = ["server/model", "server/plan"]

LINES_MAX = 500
COLUMNS_MAX = 100  # characters; what a literal needs is not counted
FUNCTION_LINES_MAX = 70  # of its body; a table is data
TABLES = ["cli/slurm/job_options.cpp", "sim/explore/model.cpp", "sim/year/fault_kinds.cpp"]
CODE_SUFFIXES = (".h", ".cpp")
LENGTH_SUFFIXES = (".h", ".cpp", ".py")
TEXT_SUFFIXES = (
    *LENGTH_SUFFIXES, ".proto", ".sql", ".md", ".txt", ".cmake", ".sh", ".yaml", ".yml", ".json", ".toml", ".ts",
    ".tsx", ".html", ".css", ".scn", ".service", ".csv",
)

# A path of somebody's machine works nowhere else. The folder names are split so that this file passes.
MACHINE_PATHS = r"(?<![\w./}-])/(wor" + r"k|roo" + r"t|User" + r"s)/\w"

SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__", "dist", ".cache", ".venv"}
# Folders in which only the rules for all text files hold.
UNLAYERED = ["tests", "docs", "sdk", "deploy", "web"]
