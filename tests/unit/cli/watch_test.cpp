#include "cli/watch.h"

#include <gtest/gtest.h>

namespace hai::cli {
namespace {

TEST(InPlace, EachLineIsWipedAndTheRestOfTheScreen) {
  EXPECT_EQ(in_place("a\nb\n", 24), "\033[H\033[2Ka\n\033[2Kb\n\033[J");
  EXPECT_EQ(in_place("", 24), "\033[H\033[J");
}

TEST(InPlace, WhatDoesNotFitIsCounted) {
  EXPECT_EQ(in_place("a\nb\nc\n", 4), "\033[H\033[2Ka\n\033[2Kb\n\033[2Kc\n\033[J");
  EXPECT_EQ(in_place("a\nb\nc\nd\n", 4),
            "\033[H\033[2Ka\n\033[2Kb\n\033[2K… and 2 more lines\n\033[J");
}

}  // namespace
}  // namespace hai::cli
