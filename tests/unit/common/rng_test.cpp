#include "common/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace hai {
namespace {

// These numbers are a promise: a seed that failed once must fail again on every machine and
// version.
TEST(Rng, SameSeedGivesTheseNumbers) {
  Rng rng(1);
  EXPECT_EQ(rng.next(), 12966619160104079557u);
  EXPECT_EQ(rng.next(), 9600361134598540522u);
  EXPECT_EQ(Rng(1).below(1000), 557u);
}

TEST(Rng, StaysInItsRange) {
  Rng rng(7);
  std::vector<int> counts(10);
  for (int i = 0; i < 10'000; ++i) {
    ++counts[rng.below(10)];
    const int64_t value = rng.between(-5, 5);
    EXPECT_GE(value, -5);
    EXPECT_LE(value, 5);
    const double unit = rng.unit();
    EXPECT_GE(unit, 0.0);
    EXPECT_LT(unit, 1.0);
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(rng.below(1), 0u);
  EXPECT_EQ(rng.between(3, 3), 3);
  rng.between(INT64_MIN, INT64_MAX);
}

TEST(Rng, ChanceFollowsItsProbability) {
  Rng rng(3);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) hits += rng.chance(0.25) ? 1 : 0;
  EXPECT_NEAR(hits, 2500, 200);
  EXPECT_FALSE(rng.chance(0.0));
  EXPECT_TRUE(rng.chance(1.0));
}

TEST(Rng, ShuffleKeepsTheItems) {
  Rng rng(5);
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  const std::vector<int> before = items;
  rng.shuffle(items);
  EXPECT_NE(items, before);
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items, before);
  EXPECT_LT(rng.pick(items), 100);
}

TEST(Rng, ForksAreIndependent) {
  Rng parent(9);
  Rng first = parent.fork();
  Rng second = parent.fork();
  EXPECT_NE(first.next(), second.next());
}

}  // namespace
}  // namespace hai
