#!/usr/bin/env python3
"""Does check.py find what it must? Each case plants one violation in a small clean tree."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check
import check_dependencies
import rules

CLEAN = {
    "common/time.h": "#pragma once\n",
    "common/log.h": "#pragma once\n",
    "common/asio_loop.h": "#pragma once\n",
    "common/asio_loop.cpp": '#include "common/asio_loop.h"\n\n#include <boost/asio/io_context.hpp>\n',
    "server/model/job.h": '// Jobs.\n#pragma once\n#include <chrono>\n#include "common/time.h"\n',
    "server/plan/order.h": '#pragma once\n#include "server/model/job.h"\n',
    "server/control/ports.h": '#pragma once\n#include "server/plan/order.h"\n#include "common/log.h"\n',
    "server/control/verbs/b.h": "#pragma once\n",
    "server/store/mem_store.h": '#pragma once\n#include "server/control/ports.h"\n',
    "server/store/pg_store.h": "#pragma once\n#include <pqxx/pqxx>\n",
    "server/rpc/service.cpp": '#include <grpcpp/grpcpp.h>\n#include "hai/v1/agent.pb.h"\n',
    "server/main.cpp": '#include "server/rpc/x.h"\n#include "server/store/pg_store.h"\n',
    "server/rpc/x.h": "#pragma once\n",
    "agent/core/agent.cpp": '// A steady_clock in words is fine.\nconst char* k = "getenv(std::thread)";\n',
    "sim/world.cpp": '#include "server/store/mem_store.h"\n#include "agent/core/x.h"\n',
    "agent/core/x.h": "#pragma once\n",
    "tests/unit/x_test.cpp": '#include <grpcpp/grpcpp.h>\n#include "server/store/pg_store.h"\n',
    "README.md": "Put it in /usr/local or ./work/dir or https://host/work/x.\n",
}

# (file, its text, the expected violation)
PLANTED = [
    ("common/a.cpp", '#include "server/model/job.h"\n', "common must not include server/model/job.h"),
    ("server/model/a.cpp", '\n#include "server/plan/order.h"\n', ":2: server/model must not include"),
    ("server/plan/a.cpp", '#include "server/control/ports.h"\n', "server/plan must not include"),
    ("server/control/a.cpp", '#include "server/store/mem_store.h"\n', "server/control must not include"),
    ("server/store/a.cpp", '#include "server/rpc/x.h"\n', "server/store must not include"),
    ("agent/core/a.cpp", '#include "server/model/job.h"\n', "agent/core must not include"),
    ("agent/a.cpp", '#include "server/model/job.h"\n', "agent must not include"),
    ("cli/a.cpp", '#include "server/model/job.h"\n', "cli must not include"),
    ("sim/a.cpp", '#include "server/store/pg_store.h"\n', "sim must not include"),
    ("cli/a.cpp", '#include "session.h"\n', 'no file "session.h" below the repository root'),
    ("tests/a.cpp", '#include "../common/nothing.h"\n', 'no file "../common/nothing.h"'),
    ("server/http/a.cpp", "#include <grpcpp/grpcpp.h>\n", "grpcpp/grpcpp.h may be included only in"),
    ("sim/a.cpp", '#include "hai/v1/agent.pb.h"\n', "hai/v1/agent.pb.h may be included only in"),
    ("server/rpc/a.cpp", "#include <pqxx/pqxx>\n", "pqxx/pqxx may be included only in server/store"),
    ("server/rpc/a.cpp", "#include <boost/beast/core.hpp>\n", "may be included only in server/http"),
    ("common/loop.cpp", "#include <boost/asio/post.hpp>\n", "boost/asio/post.hpp may be included only"),
    ("common/asio_loop.h", "#pragma once\n#include <boost/asio/post.hpp>\n", "may be included only in"),
    ("cli/a.h", "#pragma once\n#include <nlohmann/json.hpp>\n", "include it in .cpp files only"),
    ("common/a.cpp", "#include <nlohmann/json.hpp>\n", "nlohmann/json.hpp may be included only in"),
    ("cli/a.cpp", "#include <spdlog/spdlog.h>\n", "may be included only in common/log.cpp"),
    ("server/model/a.cpp", '#include "common/log.h"\n', "model and plan never log"),
    ("server/control/a.cpp", '#include "common/asio_loop.h"\n', "is a real clock"),
    ("agent/core/a.cpp", "#include <mutex>\n", "mutex locks"),
    ("server/plan/a.cpp", "auto x = std::chrono::steady_clock::now();\n", ":1: steady_clock reads a clock"),
    ("server/model/a.cpp", "int a;\nauto t = time(nullptr);\n", ":2: time(nullptr) reads a clock"),
    ("server/control/a.h", '#pragma once\n#include "server/control/verbs/b.h"\n', "is the base of its rooms"),
    ("server/control/a.cpp", "std::thread t;\n", "std::thread uses threads"),
    ("server/control/a.cpp", "std::shared_mutex m;\n", "std::shared_mutex locks"),
    ("agent/core/a.cpp", 'auto p = getenv("X");\n', "getenv reads the environment"),
    ("agent/core/a.cpp", "int r = rand();\n", "rand( draws random numbers"),
    ("agent/core/a.cpp", "std::random_device d;\n", "std::random_device draws"),
    ("agent/core/a.cpp", "/* fine\n */ auto d = 1'000; std::this_thread::yield();\n", ":2: std::this_thread"),
    ("cli/a.h", "#pragma once\nusing namespace std;\n", ":2: using namespace in a header"),
    ("cli/a.h", "// #pragma once\n", "a header needs #pragma once"),
    ("cli/a.cpp", "\n" * 501, "501 lines, at most 500"),
    ("sdk/a.py", "\n" * 501, "501 lines, at most 500"),
    ("docs/a.md", "see /" + "work/main/x\n", "is a path of one machine"),
    ("deploy/a.sh", 'cd "/' + 'root/x"\n', "is a path of one machine"),
    ("cli/a.cpp", b"\xff\xfe", "is not UTF-8 text"),
    ("cli/a.cpp", "// " + "x" * 98 + "\n", ":1: 101 columns, at most 100"),
    ("proto/a.proto", "int32 " + "x" * 95 + ";\n", ":1: 102 columns"),
    ("cli/a.cpp", "void f() {\n" + "  g();\n" * 71 + "}\n", ":1: a function of 71 lines, at most 70"),
    ("cli/a.cpp", "void f(int a,\n       int b) {\n" + "  g();\n" * 71 + "}\n", ":1: a function of 71 lines"),
    ("cli/a.cpp", "// docs/nowhere.md\n", ":1: there is no docs/nowhere.md"),
    ("cli/a.cpp", "\n// design/9999\n", ":2: there is no docs/design/9999"),
]


def violations_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return check.check_tree(root)


class CheckTest(unittest.TestCase):
    def test_what_stands_in_quotes_may_be_as_long_as_it_has_to(self):
        wide = 'auto a = "' + "x" * 200 + '";\nauto b = R"(' + "x" * 200 + "\n" + "y" * 200 + ')";\n'
        self.assertEqual(violations_of({**CLEAN, "cli/a.cpp": wide}), [])

    def test_a_clean_tree_has_no_violation(self):
        self.assertEqual(violations_of(CLEAN), [])

    def test_each_planted_violation_is_found_and_is_the_only_one(self):
        for name, text, expected in PLANTED:
            with self.subTest(file=name, expected=expected):
                found = violations_of({**CLEAN, name: text})
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(name + ":"), found)
                self.assertIn(expected, found[0])

    def test_what_is_not_source_is_skipped(self):
        bad = "using namespace std;\n"
        files = {f"{folder}/a.h": bad for folder in ("build/x", "web/node_modules/x", ".git")}
        self.assertEqual(violations_of({**CLEAN, **files}), [])

    def test_literals_and_comments_are_no_code(self):
        text = 'auto a = R"x(getenv( ")x"; char b = \'"\'; // std::thread\nint c = 1\'000; /* rand( */\n'
        self.assertNotRegex(check.strip_comments_and_literals(text), "getenv|thread|rand")
        self.assertIn("1'000", check.strip_comments_and_literals(text))

    def test_the_include_table_has_no_cycle(self):
        def reach(folder, seen):
            for target in rules.MAY_INCLUDE.get(folder, []):
                self.assertNotIn(target, seen, f"{folder} -> {target}")
                reach(target, [*seen, target])

        for folder in rules.MAY_INCLUDE:
            reach(folder, [folder])

    def test_the_program_fails_on_a_violation(self):
        with tempfile.TemporaryDirectory() as root:
            Path(root, "a.h").write_text("int a;\n")
            output = io.StringIO()
            with mock.patch("sys.argv", ["check.py", root]), contextlib.redirect_stdout(output), \
                    contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(check.main(), 1)
            self.assertEqual(output.getvalue(), "a.h:1: a header needs #pragma once\n")


class DependenciesTest(unittest.TestCase):
    TEXT = """| package | version | why |
|---|---|---|
| `g++` | 12 | compiles |
| `zsh` `fish` | | completion |
| `react` `react-dom` | 19.3.1 | the page |
| `vite` `vitest` | 8.3.8 4.1.12 | builds and tests it |
"""
    DEBIAN = ("g++", "zsh", "fish")
    NPM = {"react": "19.3.1", "react-dom": "19.3.1", "vite": "8.3.8", "vitest": "4.1.12"}

    def problems(self, text=TEXT, debian=DEBIAN, npm=NPM, installed="12.2.0-3"):
        return list(check_dependencies.problems(text, debian, npm, lambda _: installed))

    def test_a_table_that_is_true_passes(self):
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.problems(installed=""), [], "what is not installed is not judged")

    def test_each_slip_is_found(self):
        self.assertIn("mold is not there", self.problems(debian=(*self.DEBIAN, "mold"))[0])
        self.assertIn("fish is there", self.problems(debian=("g++", "zsh"))[0])
        self.assertIn("react is said to be 19.3.1, locked is 20.0.0", self.problems(npm={**self.NPM, "react": "20.0.0"})[0])
        self.assertIn("g++ is said to be 12, installed is 13.1", self.problems(installed="13.1")[0])
        self.assertIn("g++ is said to be 12, installed is 120", self.problems(installed="120")[0])


if __name__ == "__main__":
    unittest.main()
