#include "common/config/yaml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace hai {
namespace {

using testing::ElementsAre;

std::vector<std::string> finish(YamlReader& reader) {
  std::vector<std::string> lines;
  for (const FieldError& error : reader.finish()) lines.push_back(to_string(error));
  return lines;
}

TEST(YamlReader, ReadsEveryType) {
  YamlReader reader(R"(
listen: {grpc: "0.0.0.0:1", deep: {er: x}}
count: 16
big: 9000000000
on: true
off: False
wait: 1h30m
memory: 64Gi
at: 2026-11-20T08:00:00Z
mode: fast
tags: [a, 'b c', 3]
env: {A: 1, B: , C: "x y"}
)");
  std::string grpc, deep;
  int count = 0;
  int64_t big = 0, memory = 0;
  bool on = false, off = true;
  Duration wait{0};
  std::optional<UnixTime> at;
  size_t mode = 9;
  std::vector<std::string> tags;
  std::map<std::string, std::string> env;
  EXPECT_TRUE(reader.string("listen.grpc", &grpc));
  EXPECT_TRUE(reader.string("listen.deep.er", &deep));
  EXPECT_TRUE(reader.integer("count", &count, {.low = 1, .high = 16}));
  EXPECT_TRUE(reader.integer("big", &big, {}));
  EXPECT_TRUE(reader.boolean("on", &on));
  EXPECT_TRUE(reader.boolean("off", &off));
  EXPECT_TRUE(reader.duration("wait", &wait, {}));
  EXPECT_TRUE(reader.bytes("memory", &memory, {}));
  EXPECT_TRUE(reader.time("at", &at));
  EXPECT_TRUE(reader.choice("mode", &mode, {"slow", "fast"}));
  EXPECT_TRUE(reader.strings("tags", &tags));
  EXPECT_TRUE(reader.string_map("env", &env));
  EXPECT_THAT(finish(reader), ElementsAre());
  EXPECT_EQ(grpc, "0.0.0.0:1");
  EXPECT_EQ(deep, "x");
  EXPECT_EQ(count, 16);
  EXPECT_EQ(big, 9'000'000'000);
  EXPECT_TRUE(on);
  EXPECT_FALSE(off);
  EXPECT_EQ(wait, 90min);
  EXPECT_EQ(memory, int64_t{64} << 30);
  EXPECT_EQ(at, parse_rfc3339("2026-11-20T08:00:00Z").value());
  EXPECT_EQ(mode, 1u);
  EXPECT_THAT(tags, ElementsAre("a", "b c", "3"));
  EXPECT_EQ(env, (std::map<std::string, std::string>{{"A", "1"}, {"B", ""}, {"C", "x y"}}));
}

TEST(YamlReader, MissingAndEmptyKeysKeepTheDefault) {
  YamlReader reader("a:\nsection:\n");
  std::string a = "default", b = "default", c = "default";
  EXPECT_FALSE(reader.string("a", &a));
  EXPECT_FALSE(reader.string("b", &b));
  EXPECT_FALSE(reader.string("section.c", &c));
  EXPECT_THAT(finish(reader), ElementsAre());
  EXPECT_EQ(a + b + c, "defaultdefaultdefault");
}

TEST(YamlReader, ReportsWrongTypesAndRanges) {
  YamlReader reader(R"(a: [1]
b: five
c: 17
d: 99999999999999999999
e: maybe
f: -5s
g: 2h
h: lots
i: later
j: middle
k: text
l: [x, [y]]
m: {x: [y]}
n: text
o: {}
)");
  std::string text;
  int number = 7;
  bool flag = false;
  Duration wait{0};
  int64_t size = 0;
  std::optional<UnixTime> at;
  size_t choice = 0;
  std::vector<std::string> texts;
  std::map<std::string, std::string> map;
  EXPECT_FALSE(reader.string("a", &text));
  EXPECT_FALSE(reader.integer("b", &number, {}));
  EXPECT_FALSE(reader.integer("c", &number, {.low = 1, .high = 16}));
  EXPECT_FALSE(reader.integer("d", &number, {.low = 1, .high = 16}));
  EXPECT_FALSE(reader.boolean("e", &flag));
  EXPECT_FALSE(reader.duration("f", &wait, {}));
  EXPECT_FALSE(reader.duration("g", &wait, {.low = 1s, .high = 1h}));
  EXPECT_FALSE(reader.bytes("h", &size, {}));
  EXPECT_FALSE(reader.time("i", &at));
  EXPECT_FALSE(reader.choice("j", &choice, {"low", "mid", "high"}));
  EXPECT_FALSE(reader.strings("k", &texts));
  reader.strings("l", &texts);
  reader.string_map("m", &map);
  EXPECT_FALSE(reader.string_map("n", &map));
  EXPECT_FALSE(reader.integer("o", &number, {}));
  EXPECT_EQ(number, 7);
  EXPECT_THAT(
      finish(reader),
      ElementsAre(
          "line 1: a: must be a text, is a list", "line 2: b: must be a whole number, is 'five'",
          "line 3: c: must be 1..16, is 17", "line 4: d: must be 1..16, is 99999999999999999999",
          "line 5: e: must be true or false, is 'maybe'",
          "line 6: f: duration '-5s': write it like 90s, 5m, 1h30m, 250ms or 2d",
          "line 7: g: must be 1s..1h, is 2h",
          "line 8: h: size 'lots': write it like 64Gi, 500M or 4096",
          "line 9: i: time 'later': write it like 2026-11-20T08:00:00Z",
          "line 10: j: must be low, mid or high, is 'middle'",
          "line 11: k: must be a list of texts, is 'text'",
          "line 12: l[1]: must be a text, is a list", "line 13: m.x: must be a text, is a list",
          "line 14: n: must be a mapping of names to texts, is 'text'",
          "line 15: o: must be a whole number, is a mapping"));
}

TEST(YamlReader, TheEndsOfARangeAreInIt) {
  YamlReader reader(
      "a: 1\nb: 16\nc: 0\nd: 12x\ne: ''\nf: 1s\ng: 1h\nh: 1Ki\ni: 1Mi\nj: 1Gi\nk: 1\n");
  int number = 0;
  Duration wait{0};
  int64_t size = 0;
  const YamlReader::IntegerRange range{.low = 1, .high = 16};
  EXPECT_TRUE(reader.integer("a", &number, range));
  EXPECT_TRUE(reader.integer("b", &number, range));
  EXPECT_FALSE(reader.integer("c", &number, range));
  EXPECT_FALSE(reader.integer("d", &number, range));
  EXPECT_FALSE(reader.integer("e", &number, range));
  EXPECT_TRUE(reader.duration("f", &wait, {.low = 1s, .high = 1h}));
  EXPECT_TRUE(reader.duration("g", &wait, {.low = 1s, .high = 1h}));
  EXPECT_TRUE(reader.bytes("h", &size, {.low = 1024, .high = 1 << 20}));
  EXPECT_TRUE(reader.bytes("i", &size, {.low = 1024, .high = 1 << 20}));
  EXPECT_FALSE(reader.bytes("j", &size, {.low = 1024, .high = 1 << 20}));
  EXPECT_FALSE(reader.bytes("k", &size, {.low = 1024, .high = 1 << 20}));
  EXPECT_EQ(number, 16);
  EXPECT_EQ(size, 1 << 20);
  EXPECT_THAT(
      finish(reader),
      ElementsAre("line 3: c: must be 1..16, is 0", "line 4: d: must be a whole number, is '12x'",
                  "line 5: e: must be a whole number, is ''",
                  "line 10: j: must be 1Ki..1Mi, is 1Gi", "line 11: k: must be 1Ki..1Mi, is 1"));
}

TEST(YamlReader, ReadsTruthInThreeSpellings) {
  for (const auto& [text, is_true] : {std::pair("true", true),
                                      {"True", true},
                                      {"TRUE", true},
                                      {"false", false},
                                      {"False", false},
                                      {"FALSE", false}}) {
    YamlReader reader(std::string("a: ") + text);
    bool value = !is_true;
    EXPECT_TRUE(reader.boolean("a", &value)) << text;
    EXPECT_EQ(value, is_true) << text;
  }
}

TEST(YamlReader, FindsUnknownKeys) {
  YamlReader reader(
      "listen: {gprc: x}\nlog: 3\ngrpc: y\n\"listen.grpc\": z\ncolour: red\nenv: {any: x}\n");
  std::string text;
  std::map<std::string, std::string> env;
  reader.string("listen.grpc", &text);
  reader.string("log.level", &text);
  reader.string_map("env", &env);
  EXPECT_THAT(finish(reader),
              ElementsAre("line 1: listen.gprc: unknown key, did you mean grpc?",
                          "line 2: log: must be a mapping, is a single value",
                          "line 3: grpc: unknown key, did you mean listen.grpc?",
                          "line 4: listen.grpc: unknown key, allowed here: env, listen, log",
                          "line 5: colour: unknown key, allowed here: env, listen, log"));
}

TEST(YamlReader, RefusedAndRequiredKeys) {
  YamlReader reader("old: 1\nb:\n");
  reader.refuse("old", "is gone, use new");
  reader.refuse("older", "is gone, use new");
  reader.require("a.b");
  reader.require("b");
  EXPECT_TRUE(reader.has_error("a.b"));
  EXPECT_FALSE(reader.has_error("a"));
  EXPECT_THAT(finish(reader), ElementsAre("line 1: old: is gone, use new",
                                          "line 1: a.b: is missing", "line 2: b: is missing"));
}

TEST(YamlReader, ReadsListsOfMappings) {
  YamlReader reader("users:\n  - {name: ann}\n  - name: [b]\n    nam: x\n  - c\n");
  std::vector<std::string> names;
  for (YamlReader* user : reader.list("users")) {
    std::string name = "?";
    user->string("name", &name);
    names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre("ann", "?"));
  EXPECT_THAT(finish(reader),
              ElementsAre("line 3: users[1].name: must be a text, is a list",
                          "line 4: users[1].nam: unknown key, did you mean name?",
                          "line 5: users[2]: must be a mapping, is a single value"));
}

TEST(YamlReader, KnowsTheLineOfAPath) {
  YamlReader reader("a:\n  b:\n    - x\n    - y\n  c: z\n");
  EXPECT_EQ(reader.line_of("a.b[1]"), 4);
  EXPECT_EQ(reader.line_of("a.c"), 5);
  EXPECT_EQ(reader.line_of("a.missing"), 1);
  EXPECT_EQ(reader.line_of("missing.too"), 1);
  EXPECT_EQ(reader.line_of("a.b[9]"), 2);
}

TEST(YamlReader, AnUnreadableTextGivesOneError) {
  for (const char* text : {"a: [", "- x", "text", "a: 1\na: 2"}) {
    YamlReader reader(text);
    std::string value;
    EXPECT_FALSE(reader.is_readable());
    EXPECT_FALSE(reader.string("a", &value));
    reader.require("b");
    EXPECT_EQ(reader.finish().size(), 1u) << text;
  }
}

TEST(YamlReader, BoundsItsErrors) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += fmt::format("key{}: 1\n", i);
  YamlReader reader(text);
  const std::vector<FieldError> errors = reader.finish();
  EXPECT_EQ(errors.size(), kFieldErrorsMax + 1);
}

TEST(YamlReader, FromFile) {
  const std::string path = testing::TempDir() + "yaml_reader_test.yaml";
  std::ofstream(path) << "a: 1\nb: 2\n";
  Result<YamlReader> reader = YamlReader::from_file(path);
  ASSERT_TRUE(reader.is_ok());
  int a = 0;
  EXPECT_TRUE(reader.value().integer("a", &a, {}));
  EXPECT_EQ(to_status(reader.value().finish(), "x.yaml").message(),
            "x.yaml: line 2: b: unknown key, allowed here: a");
  std::ofstream(path) << std::string(kYamlBytesMax + 1, '#');
  EXPECT_EQ(YamlReader::from_file(path).status().code(), Code::invalid_argument);
  std::remove(path.c_str());
  EXPECT_EQ(YamlReader::from_file(path).status().code(), Code::not_found);
  EXPECT_FALSE(YamlReader::from_file(testing::TempDir()).is_ok());
}

TEST(FieldErrors, AsOneStatus) {
  EXPECT_TRUE(to_status({}).is_ok());
  const Status status =
      to_status({{3, "a.b", "is bad"}, {0, "c", "is worse"}, {0, "", "and more"}});
  EXPECT_EQ(status, Status(Code::invalid_argument, "line 3: a.b: is bad\nc: is worse\nand more"));
}

}  // namespace
}  // namespace hai
