#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/json/json_text.h"
#include "common/rng.h"

namespace hai {
namespace {

// All that a view offers, as a tree to compare with.
nlohmann::json tree_of(JsonView view) {
  JsonView::Members members;
  std::vector<JsonView> elements;
  if (view.is_null()) return nullptr;
  if (auto value = view.as_bool()) return *value;
  if (auto value = view.as_int()) return *value;
  if (auto value = view.as_double()) return *value;
  if (auto value = view.as_string()) return *value;
  if (view.members(members)) {
    nlohmann::json tree = nlohmann::json::object();
    for (const auto& [key, value] : members) tree[unescape_json(key)] = tree_of(value);
    return tree;
  }
  EXPECT_TRUE(view.elements(elements));
  nlohmann::json tree = nlohmann::json::array();
  for (JsonView element : elements) tree.push_back(tree_of(element));
  return tree;
}

// As a caller does that reads many values into the same list.
TEST(JsonView, WhatIsReadReplacesWhatWasReadBefore) {
  std::vector<JsonView> elements;
  for (const char* text : {"[1,2]", "[3]", "[]"}) {
    const JsonView view = JsonView::parse(text).value();
    ASSERT_TRUE(view.elements(elements));
    EXPECT_EQ(elements.size(), nlohmann::json::parse(text).size()) << text;
  }
  JsonView::Members members;
  for (const char* text : {R"({"a":1,"b":2})", R"({"c":3})", "{}"}) {
    const JsonView view = JsonView::parse(text).value();
    ASSERT_TRUE(view.members(members));
    EXPECT_EQ(members.size(), nlohmann::json::parse(text).size()) << text;
  }
  EXPECT_FALSE(JsonView::parse("1").value().elements(elements));
  EXPECT_TRUE(elements.empty());
}

void touch(JsonView view) {
  JsonView::Members members;
  std::vector<JsonView> elements;
  view.as_int(), view.as_double(), view.as_string();
  if (view.members(members)) {
    for (const auto& [key, value] : members) unescape_json(key), touch(value);
  }
  if (view.elements(elements)) {
    for (JsonView element : elements) touch(element);
  }
}

TEST(JsonView, ReadsWhatAnotherParserReads) {
  for (const char* text :
       {"null", " true ", "false", "0", "-1", "9223372036854775807", "1.5", "-2e-3", "\"\"",
        R"("a\"\\\/\b\f\n\r\tz")", R"("\u00fc\u65e5\ud83d\ude80")", "[]", "[ ]", "{}", "{ }",
        "[1,[2,[3]],{}]", R"({"a":1,"b":{"c":[true,null]},"":"x","k\n":0})", "\n{\"a\" : 1 }\t"}) {
    Result<JsonView> view = JsonView::parse(text);
    ASSERT_TRUE(view.is_ok()) << text;
    EXPECT_EQ(tree_of(view.value()), nlohmann::json::parse(text)) << text;
  }
}

TEST(JsonView, RefusesWhatIsNoJson) {
  const std::string deep(100, '[');
  for (const std::string text :
       {"",          " ",           "nul",      "truex",  "01",      "1.",
        "-",         "+1",          ".5",       "1e",     "\"",      "\"\\x\"",
        "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "[",      "[1",      "[1,",
        "[1,]",      "[,]",         "{",        "{\"a\"", "{\"a\":", "{\"a\":1,}",
        "{a:1}",     "{\"a\" 1}",   "1 2",      "[]]",    "{}}",     deep.c_str()}) {
    EXPECT_FALSE(JsonView::parse(text).is_ok()) << text;
  }
}

TEST(JsonView, AgreesWithAnotherParserOnMutations) {
  const std::string plain =
      R"({"job":17,"spec":{"name":"a\n\"","tags":["x","ü"],"n":-1.5e3,"b":true,"c":null}})";
  const std::string escapes = R"(["a\u00e9\n",{"k\ud83d\ude80":0}])";
  const std::string alphabet = "{}[]\",:\\u0019eE+-.tfn \n";
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = rng.chance(0.7) ? plain : escapes;
    for (auto edits = rng.between(1, 3); edits > 0; --edits) {
      const size_t at = rng.below(text.size());
      if (rng.chance(0.3)) {
        text.erase(at, rng.below(4));
      } else {
        text[at] = alphabet[rng.below(alphabet.size())];
      }
      if (text.empty()) text = "0";
    }
    Result<JsonView> view = JsonView::parse(text);
    // The other parser also refuses lone surrogates and what is no UTF-8; here both are read,
    // since the database has none.
    if (text.find("\\u") == std::string::npos && is_clean_utf8(text)) {
      EXPECT_EQ(view.is_ok(), nlohmann::json::accept(text)) << text;
    }
    if (view.is_ok()) touch(view.value());
  }
}

TEST(JsonText, LoneSurrogatesAreReplaced) {
  EXPECT_EQ(unescape_json("a\\ud83dz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(unescape_json("\\ud83d\\u0041"),
            "\xEF\xBF\xBD"
            "A");
  EXPECT_EQ(unescape_json("\\ude80"), "\xEF\xBF\xBD");
}

TEST(JsonText, CleaningKeepsGoodTextAndOnlyThat) {
  const std::string good = "a ü 日本 🚀 \x7f\x01";
  EXPECT_TRUE(is_clean_utf8(good));
  EXPECT_EQ(clean_utf8(good), good);
  Rng rng(3);
  for (int i = 0; i < 5'000; ++i) {
    std::string bytes;
    for (auto count = rng.below(12); count > 0; --count) {
      bytes += static_cast<char>(rng.chance(0.5) ? rng.between(0x80, 0xff) : rng.below(0x80));
    }
    EXPECT_TRUE(is_clean_utf8(clean_utf8(bytes)));
    std::string json;
    append_json_string(json, bytes);
    EXPECT_TRUE(nlohmann::json::accept(json)) << json;
    EXPECT_EQ(nlohmann::json::parse(json).get<std::string>(), clean_utf8(bytes));
  }
}

}  // namespace
}  // namespace hai
