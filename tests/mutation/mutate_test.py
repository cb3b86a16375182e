#!/usr/bin/env python3
"""Does the mutator find what it should, and leave alone what it must? Nothing is compiled here."""

import json
import tempfile
import unittest
from pathlib import Path

from covering import TESTS_OF, data_of, target_files, tests_of
from mutants import mutants_of, read_equivalents
from operators import OPERATORS
from results import Results

ROOT = Path(__file__).resolve().parents[2]

# (operator, a function's body, the lines it makes of it)
FOUND = [
    ("comparison", "return a < b;", ["return a <= b;"]),
    ("comparison", "return a >= b;", ["return a > b;"]),
    ("comparison", "return a == b;", ["return a != b;"]),
    ("comparison", "return a && b;", ["return a || b;"]),
    ("comparison", "std::vector<int> a; auto&& b = a;", []),
    ("comparison", "return a <=> b;", []),
    ("constant", "return 0;", ["return 1;"]),
    ("constant", "return 1;", ["return 0;"]),
    ("constant", "return 41U;", ["return 42U;"]),
    ("constant", "return true;", ["return false;"]),
    ("constant", "return 1'000'000 + 0x10 + 0.5;", []),
    ("swapped arguments", "f(a, b.c);", ["f(b.c, a);"]),
    ("swapped arguments", "f(a, 1, *p);", ["f(1, a, *p);", "f(a, *p, 1);"]),
    ("swapped arguments", "std::min(a, b); f(a, a); f(a + b, g(c), d);", []),
    ("dropped statement", "a = b;", [";"]),
    ("dropped statement", "if (a) b.c(d);", ["if (a) ;"]),
    ("dropped statement", "a->b[c] += d;", [";"]),
    ("dropped statement", "++a;", [";"]),
    ("dropped statement", "std::erase_if(a, [](int b) { return b; });", [";"]),
    ("dropped statement", "std::get<0>(a).clear();", [";"]),
    ("dropped statement", "int a = b; return c; auto d = e(); Foo f(g); std::vector<int> h; (void)i;", []),
    ("dropped statement", "a.reserve(b);", []),
    ("dropped statement", "switch (a) { case 1: b(); }", ["switch (a) { case 1: ; }"]),
    ("dropped statement", "int a = b ? c : d();", []),
    ("negated condition", "if (a || b) return;", ["if (!(a || b)) return;"]),
    ("negated condition", "if (auto a = b; a > c) return;", ["if (auto a = b; !(a > c)) return;"]),
    ("negated condition", "if (auto a = b) return; if constexpr (c) return;", []),
    ("wrong unit", "return 30s;", ["return 30ms;"]),
    ("wrong unit", "return 5min;", ["return 5s;"]),
    ("wrong unit", "return 0s;", []),
    ("wrong unit", "return a * 1'000;", ["return a;"]),
    ("wrong unit", "return std::chrono::seconds(a);", ["return std::chrono::milliseconds(a);"]),
    ("plus minus", "return a + b;", ["return a - b;"]),
    ("plus minus", "a -= b;", ["a += b;"]),
    ("plus minus", "++a;", ["--a;"]),
    ("plus minus", 'return a + "b" + -c;', []),
    ("min max", "return std::max(a, b);", ["return std::min(a, b);"]),
    ("min max", "return UnixTime::max();", []),
]

# Of these nothing may be changed.
LEFT_ALONE = [
    "// a < b, 30s, true; f(a, b);",
    "/* a < b;\n a = b; */",
    'constexpr std::string_view kText = "a < b && 1 + 2 == 30s; \\" f(a, b);";',
    'constexpr std::string_view kRaw = R"(a < b; "c = d" + 1)";',
    "constexpr char kLetter = '1';",
    "#include <a/b.h>\n#define LESS(a, b) \\\n  ((a) < (b) + 1)",
    "static_assert(sizeof(int) == 4 && 1 < 2);",
    "template <typename T> void f(const std::map<T, T>& a);",
    "void f() { CHECK(a < b && c == 1); }",
]


def changed(body, operator):
    text = f"int f() {{\n{body}\n}}\n"
    return [mutant.after for mutant in mutants_of("a.cpp", text) if mutant.operator == operator]


class FindsWhatItShould(unittest.TestCase):
    def test_each_operator(self):
        for operator, body, expected in FOUND:
            with self.subTest(operator=operator, body=body):
                self.assertEqual(changed(body, operator), expected)

    def test_no_operator_is_untested(self):
        self.assertEqual({operator for operator, _, made in FOUND if made} | {"early return"}, set(OPERATORS))

    def test_early_return_is_for_functions_without_a_result(self):
        text = "void A::b(int c) const {\n  d();\n}\nint e() {\n  f();\n}\nvoid g() {}\n"
        found = [mutant for mutant in mutants_of("a.cpp", text) if mutant.operator == "early return"]
        self.assertEqual([mutant.after for mutant in found], ["void A::b(int c) const { return;"])

    def test_statements_of_lambdas_are_statements(self):
        text = "void f() {\n  g([this] {\n    h();\n  });\n}\n"
        dropped = [mutant.before for mutant in mutants_of("a.cpp", text) if mutant.operator == "dropped statement"]
        self.assertEqual(dropped, ["g([this] { h(); });", "h();"])

    def test_declarations_are_no_statements(self):
        text = "class A {\n  explicit A(int);\n  A(A&);\n  int b = 3;\n};\nenum class C { d, e };\n"
        dropped = [mutant for mutant in mutants_of("a.h", text) if mutant.operator == "dropped statement"]
        self.assertEqual(dropped, [])


class LeavesAlone(unittest.TestCase):
    def test_what_is_no_code(self):
        for text in LEFT_ALONE:
            with self.subTest(text=text):
                self.assertEqual([mutant.after for mutant in mutants_of("a.cpp", text + "\n")
                                  if mutant.operator != "early return"], [])


class AMutant(unittest.TestCase):
    def test_differs_from_the_file_in_its_lines_only(self):
        file = "server/plan/cost.cpp"
        text = (ROOT / file).read_text(encoding="utf-8")
        for mutant in mutants_of(file, text):
            self.assertNotEqual(mutant.apply(text), text)
            self.assertEqual(mutant.apply(text).splitlines()[:mutant.line - 1], text.splitlines()[:mutant.line - 1])
            self.assertNotEqual(mutant.before, mutant.after)

    def test_has_a_key_of_its_own(self):
        text = "int f() {\n  return 1 + 1 + 1;\n}\n"
        mutants = list(mutants_of("a.cpp", text))
        self.assertEqual(len({mutant.key for mutant in mutants}), len(mutants))
        twins = list(mutants_of("a.cpp", "int f() {\n  return 1;\n  return 1;\n}\n"))
        self.assertEqual(len({mutant.key for mutant in twins}), 2)

    def test_keeps_its_key_when_other_lines_change(self):
        def keys(text):
            return {mutant.key for mutant in mutants_of("a.cpp", text)}
        self.assertLess(keys("int f() {\n  return 1;\n}\n"), keys("int f() {\n  a = b;\n  return 1;\n}\n"))


class TheTree(unittest.TestCase):
    def test_every_equivalent_still_matches_its_file(self):
        made = {}
        for file, before, after in read_equivalents():
            if file not in made:
                text = (ROOT / file).read_text(encoding="utf-8")
                made[file] = {(mutant.before, mutant.after) for mutant in mutants_of(file, text)}
            self.assertIn((before, after), made[file], file)

    def test_every_file_can_be_read_and_has_tests_that_are_built(self):
        programs = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("CMakeLists.txt"))
        for _, tests in TESTS_OF:
            for name in tests:
                self.assertRegex(programs, rf"hai_(test|program)\({name}\b")
        files = target_files(ROOT)
        self.assertGreater(len(files), 80)
        for file in files:
            self.assertTrue(tests_of(file))

    def test_data_is_found(self):
        for program in ("scenario_test", "golden_test"):
            self.assertGreater(len(data_of(ROOT, program)), 10)


class AnInterruptedRun(unittest.TestCase):
    def test_goes_on_where_it_was(self):
        mutants = list(mutants_of("a.cpp", "int f() {\n  return a < b + 1;\n}\n"))
        self.assertEqual(len(mutants), 3)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.jsonl"
            results = Results(path)
            results.add(mutants[0], "killed", "model_test", 1.0)
            results.add(mutants[1], "survived", "", 1.0)
            later = Results(path)
            self.assertEqual(later.unjudged(mutants, again=False), [mutants[2]])
            self.assertEqual(later.unjudged(mutants, again=True), [mutants[1]])
            self.assertEqual(json.loads(path.read_text().splitlines()[0])["outcome"], "killed")


if __name__ == "__main__":
    unittest.main()
