#include "server/store/pg_array.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(PgArray, WritesNumbersWordsAndNulls) {
  PgArray array;
  array.add(JobId{7});
  array.add(std::optional<UnixTime>());
  array.add(true);
  array.add(-3);
  EXPECT_EQ(array.take(), "{7,NULL,t,-3}");
  EXPECT_EQ(PgArray().take(), "{}");
}

TEST(PgArray, QuotesText) {
  PgArray array;
  array.add("");
  array.add("NULL");
  array.add("a\"b\\c,{}");
  array.add(std::string("z\0\xff", 3));
  EXPECT_EQ(array.take(), "{\"\",\"NULL\",\"a\\\"b\\\\c,{}\",\"z\xEF\xBF\xBD\xEF\xBF\xBD\"}");
}

TEST(PgArray, ReadsBackTextArrays) {
  const std::vector<std::string> texts{"", "a", "b c", "q\"\\,{}", "日本"};
  PgArray array;
  for (const std::string& text : texts) array.add(text);
  std::vector<std::string> read;
  ASSERT_TRUE(parse_text_array(array.take(), read));
  EXPECT_EQ(read, texts);
  ASSERT_TRUE(parse_text_array("{plain,\"two words\",x}", read));
  EXPECT_EQ(read, (std::vector<std::string>{"plain", "two words", "x"}));
  ASSERT_TRUE(parse_text_array("{}", read));
  EXPECT_TRUE(read.empty());
  for (const char* bad : {"", "{", "a", "{\"a}", "{\"a\"b}", "{\"a\\"}) {
    EXPECT_FALSE(parse_text_array(bad, read)) << bad;
  }
}

}  // namespace
}  // namespace hai
