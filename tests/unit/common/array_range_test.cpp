#include "common/array_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

std::vector<int> indices(std::string_view text) {
  const ArrayRange range = ArrayRange::parse(text).value();
  std::vector<int> all;
  for (int i = 0; i < range.count(); ++i) all.push_back(range.at(i));
  return all;
}

TEST(ArrayRange, HasTheIndicesThatSlurmMeans) {
  using ::testing::ElementsAre;
  EXPECT_THAT(indices("0-3"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(indices("7"), ElementsAre(7));
  EXPECT_THAT(indices("1,3,7-9"), ElementsAre(1, 3, 7, 8, 9));
  EXPECT_THAT(indices("0-15:4%2"), ElementsAre(0, 4, 8, 12));
  const ArrayRange range = ArrayRange::parse("2-99999:2%20").value();
  EXPECT_EQ(range.count(), 49'999);
  EXPECT_EQ(range.first(), 2);
  EXPECT_EQ(range.last(), 99'998);
  EXPECT_EQ(range.step(), 2);
  EXPECT_EQ(range.limit(), 20);
  EXPECT_EQ(ArrayRange::parse("0-3").value().limit(), 0);
}

TEST(ArrayRange, RefusesBadTextInOneSentence) {
  for (const char* text : {"", "a", "-1", "1-", "5-1", "0-3,2", "3,3", "0-1000000000", "0-100000",
                           "0-3%0", "0-3%", "0-9:0", "1,,2", "1-2-3", " 1", "0x3", "1%2%3"}) {
    const auto parsed = ArrayRange::parse(text);
    ASSERT_FALSE(parsed.is_ok()) << text;
    EXPECT_EQ(parsed.status().message().find('\n'), std::string::npos);
  }
  EXPECT_EQ(ArrayRange::parse("5-1").status().message(), "'5-1': range 5-1 runs backwards");
  EXPECT_EQ(ArrayRange::parse("0-1000000000").status().message(),
            "'0-1000000000': indices go to 10000000");
}

}  // namespace
}  // namespace hai
