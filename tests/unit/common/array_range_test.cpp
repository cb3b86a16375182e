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

TEST(ArrayRange, TellsTheFirstIndexThatAnotherLacks) {
  const auto missing = [](const char* range, const char* other) {
    return ArrayRange::parse(range).value().missing_in(ArrayRange::parse(other).value());
  };
  EXPECT_EQ(missing("0-9", "0-9%2"), -1);
  EXPECT_EQ(missing("2-8:2", "0-9"), -1);
  EXPECT_EQ(missing("1,3,7-9", "0-8"), 9);
  EXPECT_EQ(missing("0-9", "0-9:3"), 1);
  EXPECT_EQ(missing("0-9", "5-9"), 0);
}

TEST(ArrayRange, OfAStepBeyondAllIndicesStaysWhatItIs) {
  for (const char* text :
       {"5:2147483647", "1:2147483647,3", "0-10000000:2147483647", "10000000:9"}) {
    const ArrayRange range = ArrayRange::parse(text).value();
    for (const int limit : {0, 3}) {
      const Result<ArrayRange> again = ArrayRange::parse(range.with_limit(limit));
      ASSERT_TRUE(again.is_ok()) << text;
      EXPECT_EQ(again.value().indices(), range.indices()) << text;
    }
  }
}

TEST(ArrayRange, WritesWhatIsLeft) {
  const auto left = [](const char* range, int from) {
    return ArrayRange::parse(range).value().text_from(from);
  };
  EXPECT_EQ(left("0-9%2", 0), "0-9");
  EXPECT_EQ(left("0-9%2", 9), "9");
  EXPECT_EQ(left("1-9:4", 1), "5-9:4");
  EXPECT_EQ(left("1-9:4", 2), "9");
  EXPECT_EQ(left("1,3,7-9", 1), "3,7-9");
  EXPECT_EQ(left("1,3,7-9", 3), "8-9");
  EXPECT_EQ(left("0-3", 4), "");
}

TEST(ArrayRange, WritesWhatIsLeftWithoutSome) {
  const auto left = [](const char* range, int from, const IndexSpans& skipped) {
    return ArrayRange::parse(range).value().text_from(from, skipped);
  };
  EXPECT_EQ(left("0-9", 2, {{5, 6}}), "2-4,7-9");
  EXPECT_EQ(left("0-9", 2, {{2, 3}, {9, 9}}), "4-8");
  EXPECT_EQ(left("0-9", 2, {{2, 9}}), "");
  EXPECT_EQ(left("0-40:10", 0, {{10, 10}, {30, 30}}), "0,20,40");
  EXPECT_EQ(left("0-60:10,65-67", 1, {{20, 20}, {66, 66}}), "10,30-60:10,65,67");
}

TEST(ArrayRange, KnowsItsIndices) {
  const ArrayRange range = ArrayRange::parse("1,4-10:3%2").value();
  for (int index : {1, 4, 7, 10}) EXPECT_TRUE(range.contains(index)) << index;
  for (int index : {0, 2, 5, 13, -1}) EXPECT_FALSE(range.contains(index)) << index;
  EXPECT_EQ(range.with_limit(5), "1,4-10:3%5");
  EXPECT_EQ(range.with_limit(0), "1,4-10:3");
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
