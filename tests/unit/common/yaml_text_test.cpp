#include "common/config/yaml_text.h"

#include <gtest/gtest.h>

#include "common/config/yaml_reader.h"

namespace hai {
namespace {

TEST(YamlText, QuotedTextsAreReadAsTheyWere) {
  for (const char* text :
       {"", "plain", "a: b # c", "say \"x\"", "back\\slash", "{[,", "two\nlines\tand a tab"}) {
    YamlReader reader("key: " + quoted_yaml(text));
    std::string read = "another";
    EXPECT_TRUE(reader.string("key", &read)) << text;
    EXPECT_EQ(read, text);
  }
}

TEST(YamlText, ReplacesOneSectionAndNothingElse) {
  const std::string yaml =
      "# head\ncluster: fire\nadvertise:  # where\n  grpc: a:1\n\n  http: a:2\nstore:\n  x: y\n";
  EXPECT_EQ(
      with_section(yaml, "store", "store: {x: z}\n"),
      "# head\ncluster: fire\nadvertise:  # where\n  grpc: a:1\n\n  http: a:2\nstore: {x: z}\n");
  EXPECT_EQ(with_section(yaml, "advertise", ""), "# head\ncluster: fire\nstore:\n  x: y\n");
  EXPECT_EQ(with_section("a:\n  b: 1\n\n# of c\nc: 2\n", "a", "a: {}\n"),
            "a: {}\n\n# of c\nc: 2\n");
  EXPECT_EQ(with_section("a: 1\nstore: {x: 1,\n  y: 2\n}\nb: 2\n", "store", ""), "a: 1\nb: 2\n");
  EXPECT_EQ(with_section("list:\n- 1\n- 2\nb: 2\n", "list", "list: []\n"), "list: []\nb: 2\n");
}

TEST(YamlText, AddsWhatIsNotThere) {
  EXPECT_EQ(with_section("a: 1", "b", "b: 2\n"), "a: 1\nb: 2\n");
  EXPECT_EQ(with_section("a: 1\n", "b", ""), "a: 1\n");
  EXPECT_EQ(with_section("storehouse: 1\n", "store", "store: 2\n"), "storehouse: 1\nstore: 2\n");
}

}  // namespace
}  // namespace hai
