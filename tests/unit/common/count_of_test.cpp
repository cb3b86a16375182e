#include "common/count_of.h"

#include <gtest/gtest.h>

namespace hai::test {
namespace {

TEST(CountOf, HasTheNumberOfTheThing) {
  EXPECT_EQ(count_of(1, "node"), "1 node");
  EXPECT_EQ(count_of(0, "node"), "0 nodes");
  EXPECT_EQ(count_of(2, "GPU"), "2 GPUs");
  EXPECT_EQ(count_of(1, "process"), "1 process");
  EXPECT_EQ(count_of(3, "more process"), "3 more processes");
}

}  // namespace
}  // namespace hai::test
