#include "common/shell_words.h"

#include <gtest/gtest.h>

#include "common/rng.h"

namespace hai {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, SplitsLikeAShell) {
  const struct {
    const char* text;
    Words words;
  } kCases[] = {
      {"", {}},
      {"  \t\n ", {}},
      {"--config 7b.yaml", {"--config", "7b.yaml"}},
      {"  a   b\tc\nd  ", {"a", "b", "c", "d"}},
      {"'a b' \"c d\"", {"a b", "c d"}},
      {"a'b'\"c\"d", {"abcd"}},
      {"'' \"\"", {"", ""}},
      {R"(a\ b \' \\)", {"a b", "'", "\\"}},
      {R"("a\"b\$c\`d\\e\f")", {R"(a"b$c`d\e\f)"}},
      {R"('a\b"c')", {R"(a\b"c)"}},
      {"a\\\nb \\\n c", {"ab", "c"}},
      {"\"a\\\nb\"", {"ab"}},
      {"$HOME *.py `id` a|b #x", {"$HOME", "*.py", "`id`", "a|b", "#x"}},
      {"--name=\xc3\xa9t\xc3\xa9", {"--name=\xc3\xa9t\xc3\xa9"}},
  };
  for (const auto& c : kCases) {
    const auto words = split_parameters(c.text);
    ASSERT_TRUE(words.is_ok()) << c.text;
    EXPECT_EQ(words.value(), c.words) << c.text;
  }
}

TEST(ShellWords, RefusesWhatIsNotFinished) {
  EXPECT_EQ(split_parameters("a 'b").status().message(),
            "parameters: the quote ' at character 3 is not closed");
  EXPECT_EQ(split_parameters("\"b").status().message(),
            "parameters: the quote \" at character 1 is not closed");
  EXPECT_EQ(split_parameters("a \"b\\").status().message(),
            "parameters: the quote \" at character 3 is not closed");
  EXPECT_EQ(split_parameters("a\\").status().message(), "parameters end with a lone backslash");
  EXPECT_EQ(split_parameters(std::string_view("a\0b", 3)).status().message(),
            "parameters contain a NUL byte");
  std::string many;
  for (size_t i = 0; i <= kWordsMax; ++i) many += "x ";
  EXPECT_EQ(split_parameters(many).status().message(), "parameters have more than 10000 words");
}

TEST(ShellWords, Quotes) {
  EXPECT_EQ(join_words({"--lr=1e-4"}), "--lr=1e-4");
  EXPECT_EQ(join_words({""}), "''");
  EXPECT_EQ(join_words({"it's"}), "'it'\\''s'");
  EXPECT_EQ(join_words({"a", "b c"}), "a 'b c'");
}

TEST(ShellWords, QuotedWordsComeBack) {
  Rng rng(3);
  const std::string kCharacters = "ab \t\n'\"\\$`*#;&|<>(){}[]~!?=%";
  for (int round = 0; round < 500; ++round) {
    Words words(rng.below(5));
    for (std::string& word : words) {
      for (uint64_t i = rng.below(10); i > 0; --i) word += rng.pick(kCharacters);
    }
    EXPECT_EQ(split_parameters(join_words(words)).value(), words);
  }
}

}  // namespace
}  // namespace hai
