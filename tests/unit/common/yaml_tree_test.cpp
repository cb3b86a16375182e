#include "common/config/yaml_tree.h"

#include <gtest/gtest.h>

#include "common/config/yaml_text.h"

namespace hai {
namespace {

using Kind = YamlNode::Kind;

std::string error_of(std::string_view text) {
  YamlNode root;
  const auto error = parse_yaml(text, &root);
  return error ? to_string(*error) : "";
}

std::string repeat(std::string_view part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(YamlTree, KeepsKindsOrderAndLines) {
  YamlNode root;
  ASSERT_FALSE(parse_yaml("a: 1\nb:\n  - x\n  - {c: 'q'}\nd:\n", &root).has_value());
  ASSERT_EQ(root.entries.size(), 3u);
  EXPECT_EQ(root.entries[0].key, "a");
  EXPECT_EQ(root.entries[0].value.text, "1");
  EXPECT_EQ(root.entries[1].line, 2);
  EXPECT_EQ(root.entries[1].value.items[1].line, 4);
  EXPECT_EQ(root.entries[1].value.items[1].find("c")->value.text, "q");
  EXPECT_EQ(root.find("d")->value.kind, Kind::null);
  EXPECT_EQ(root.find("e"), nullptr);
}

TEST(YamlText, WhatIsQuotedReadsAsItself) {
  for (const std::string text : {"", "/data", "a \"b\" 'c'", "back\\slash\\n", "#: {x}, [y]",
                                 "ä/名", "two\nlines\tand a tab", "- 1"}) {
    YamlNode root;
    ASSERT_FALSE(parse_yaml("a: " + quoted_yaml(text) + "\n", &root).has_value()) << text;
    EXPECT_EQ(root.entries.at(0).value.text, text);
  }
}

// The library quotes what it stumbles over: one byte of a longer character, or a whole line. An
// error with half a character in it could not be sent, neither by gRPC nor as JSON.
TEST(YamlTree, ErrorsAreShortTexts) {
  EXPECT_EQ(error_of("a: \"d\\\xef\xbb\xbfn\"\n"),
            "line 1: not valid YAML: unknown escape character: ?");
  const std::string error = error_of("%YAML 9." + repeat("[", 5'000) + "\n---\na: 1\n");
  EXPECT_EQ(error.substr(0, 42), "line 1: not valid YAML: bad YAML version: ");
  EXPECT_LT(error.size(), 300u);
}

// What writes JSON escapes every control character but this one, as JSON says.
TEST(YamlTree, TakesDeleteAsJsonHasIt) {
  YamlNode root;
  ASSERT_FALSE(parse_yaml("{\"a\": \"x\x7fy\"}", &root).has_value());
  EXPECT_EQ(root.find("a")->value.text, "x\x7fy");
}

TEST(YamlTree, BlockTextsKeepTheirLines) {
  YamlNode root;
  ASSERT_FALSE(parse_yaml("a: |\n  x\n  y\n", &root).has_value());
  EXPECT_EQ(root.find("a")->value.text, "x\ny\n");
  ASSERT_FALSE(parse_yaml("a: >-\n  x\n  y", &root).has_value());
  EXPECT_EQ(root.find("a")->value.text, "x y");
}

TEST(YamlTree, EmptyDocumentsAreNull) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "~"}) {
    YamlNode root;
    EXPECT_FALSE(parse_yaml(text, &root).has_value()) << text;
    EXPECT_EQ(root.kind, Kind::null) << text;
  }
}

TEST(YamlTree, FollowsAliases) {
  YamlNode root;
  ASSERT_FALSE(parse_yaml("a: &x {k: [1, 2]}\nb: *x\nc: &y s\nd: *y\n", &root).has_value());
  EXPECT_EQ(root.find("b")->value.find("k")->value.items[1].text, "2");
  EXPECT_EQ(root.find("d")->value.text, "s");
}

TEST(YamlTree, RefusesInOneLine) {
  const struct {
    std::string text;
    const char* error;
  } kCases[] = {
      {"a: 1\nb: 2\na: 3\n", "line 3: the key 'a' is here twice, first in line 1"},
      {"x:\n  a: 1\n  'a': 3\n", "line 3: the key 'a' is here twice, first in line 2"},
      {"a: 1\n---\nb: 2\n", "line 2: a second document starts here, only one is allowed"},
      {"? [a]\n: b\n", "line 1: a key must be plain text"},
      {"~: b\n", "line 1: a key must be plain text"},
      {"a: &x 1\n*x : 2\n", "line 2: a key must be plain text"},
      {"a: *nobody\n", "line 1: not valid YAML: the referenced anchor is not defined"},
      {"a: &x [*x]\n", "line 1: an alias inside what it stands for"},
      {"a: [1, 2\n", "line 2: not valid YAML: a [ is not closed"},
      {"a: 'x\n", "line 2: not valid YAML: a quote is not closed"},
      {"a: 'x\nb: 3\n", "line 3: not valid YAML: a quote is not closed"},
      {"a: \"x\nb: 3", "line 3: not valid YAML: a quote is not closed"},
      {"a: {b: 1\n", "line 2: not valid YAML: a { is not closed"},
      {"a: b: c\n", "line 1: not valid YAML: a value with ': ' in it needs quotes"},
      {"a: 1\n\tb: 2\n", "line 2: not valid YAML: illegal tab when looking for indentation"},
      {std::string("a: 1\nb: \0\n", 10), "line 2: a NUL byte: this is not a YAML text"},
      {"\x7f"
       "ELF\x02\x01",
       "line 1: the control character 0x02: this is not a YAML text"},
      {"a: \xff\xfe", "line 1: bytes that are not UTF-8: this is not a YAML text"},
  };
  for (const auto& c : kCases) EXPECT_EQ(error_of(c.text), c.error) << c.text;
}

TEST(YamlTree, HasLimits) {
  EXPECT_EQ(error_of(std::string(10u << 20, '#')), "10485760 bytes, at most 1048576 are read");
  EXPECT_EQ(error_of(repeat("- ", 100) + "x"), "line 1: nested deeper than 32 levels");
  EXPECT_EQ(error_of(repeat("- a\n", 100'001)),
            "line 100001: more than 100000 values, aliases included");
  EXPECT_EQ(error_of(repeat("- ", 31) + "x"), "");
}

TEST(YamlTree, AliasBombsEndEarly) {
  std::string laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'k'; ++c) {
    const char before = static_cast<char>(c - 1);
    laughs += fmt::format("{0}: &{0} [*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1},*{1}]\n", c, before);
  }
  EXPECT_EQ(error_of(laughs), "line 5: more than 100000 values, aliases included");
  EXPECT_EQ(error_of("a: &a \"" + std::string(500'000, 'x') + "\"\nb: [" + repeat("*a,", 50) + "]"),
            "line 2: more than 4194304 bytes, aliases included");
  // Depth counts through aliases too.
  const std::string deep = "a: &a " + repeat("[", 20) + repeat("]", 20) +
                           "\nb: " + repeat("[", 20) + "*a" + repeat("]", 20);
  EXPECT_EQ(error_of(deep), "line 2: nested deeper than 32 levels");
}

// JSON writes characters beyond the first 65,536 as two escapes.
TEST(YamlTree, JoinsTheSurrogatesOfJson) {
  const auto value_of = [](std::string_view text) {
    YamlNode root;
    const auto error = parse_yaml(text, &root);
    return error ? to_string(*error) : root.entries.at(0).value.text;
  };
  EXPECT_EQ(value_of(R"({"a": "x \ud83d\ude00 y"})"), "x \xf0\x9f\x98\x80 y");
  EXPECT_EQ(value_of(R"( {"\uD834\uDD1E": "\uD834\uDD1E"})"), "\xf0\x9d\x84\x9e");
  EXPECT_EQ(value_of(R"({"a": "\\ud83d \u00e9 \""})"), "\\ud83d \xc3\xa9 \"");
  for (const char* bad :
       {R"({"a": "\ud83d"})", R"({"a": "\ude00\ud83d"})", R"({"a": "\ud83dx\ude00"})",
        R"({"a": "\ud83d\u0041"})", R"({"a": "\ud83d\ude0"})", R"({"a": "\u)", R"({"a": "\)"}) {
    EXPECT_NE(error_of(bad), "") << bad;
  }
}

// Not a fuzzer, but the shapes that have broken YAML parsers before: each must end, and fast.
TEST(YamlTree, SurvivesHostileShapes) {
  for (const std::string& part :
       {std::string("["), std::string("{"), std::string("- "), std::string("? "),
        std::string("a: "), std::string("!"), std::string("&a "), std::string("*"),
        std::string("---\n"), std::string("%"), std::string("| "), std::string("\""),
        std::string("{a: ["), std::string("- - ?"), std::string("\n "), std::string("\t")}) {
    error_of(repeat(part, 100'000 / part.size()));
  }
}

}  // namespace
}  // namespace hai
