#include "sim/trace/distribution.h"

#include <gtest/gtest.h>

#include "sim/baselines/first_within.h"
#include "sim/trace/series.h"

namespace hai::test {
namespace {

TEST(Distribution, QuantilesAreValuesThatAreThere) {
  std::vector<double> values;
  for (int i = 100; i > 0; --i) values.push_back(i);
  Distribution d = distribution_of(values);
  EXPECT_EQ(d.mean, 50.5);
  EXPECT_EQ(d.p50, 50);
  EXPECT_EQ(d.p90, 90);
  EXPECT_EQ(d.p99, 99);
  EXPECT_EQ(d.max, 100);
  EXPECT_EQ(distribution_of(std::vector<double>{7}).p50, 7);
  EXPECT_EQ(distribution_of(std::vector<double>{}).p99, 0);
}

TEST(Series, DoublesItsIntervalAndKeepsTheSums) {
  Series series;
  for (int minute = 0; minute < 5'000; ++minute) {
    series.add(minute * 60s, 60s, {.given = 2, .healthy = 4, .waiting = 1, .queue = 3});
  }
  EXPECT_LE(series.points().size(), 4'096u);
  SeriesPoint sum;
  for (const SeriesPoint& point : series.points())
    sum.given += point.given, sum.queue += point.queue;
  EXPECT_EQ(sum.given, 2 * 5'000 * 60e6);
  EXPECT_EQ(sum.queue, 3 * 5'000 * 60e6);
}

TEST(FirstWithin, FindsTheFirstThatIsSmallEnough) {
  FirstWithin row;
  EXPECT_EQ(row.find(100), std::nullopt);
  row.set(0, 50);
  row.set(5, 10);
  row.set(9, 7);
  EXPECT_EQ(row.find(100), 0u);
  EXPECT_EQ(row.find(20), 5u);
  EXPECT_EQ(row.find(7), 9u);
  EXPECT_EQ(row.find(6), std::nullopt);
  row.clear(5);
  EXPECT_EQ(row.find(20), 9u);
}

}  // namespace
}  // namespace hai::test
