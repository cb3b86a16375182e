// A report that replaces one which was not sent yet loses nothing that is said only once.

#include "agent/rpc/take_over.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(TakeOver, KeepsWhatIsSaidOnce) {
  AgentReport unsent{.node = "n1", .sequence = 1};
  unsent.facts = NodeFacts{.name = "n1", .gpus = 8};
  unsent.checks.emplace().push_back({.name = "gpu_xid", .verdict = CheckVerdict::fail});
  unsent.gpu_readings.emplace().push_back({.utilization_percent = 7});
  AgentReport next{.node = "n1", .sequence = 2};
  take_over(unsent, next);
  EXPECT_EQ(next.sequence, 2);
  EXPECT_EQ(next.facts, unsent.facts);
  EXPECT_EQ(next.checks, unsent.checks);
  EXPECT_EQ(next.gpu_readings, unsent.gpu_readings);
}

TEST(TakeOver, WhatIsNewerStands) {
  AgentReport unsent{.node = "n1", .sequence = 1};
  unsent.checks.emplace().push_back({.name = "gpu_xid", .verdict = CheckVerdict::fail});
  AgentReport next{.node = "n1", .sequence = 2};
  next.checks.emplace();
  take_over(unsent, next);
  EXPECT_TRUE(next.checks->empty());
}

TEST(TakeOver, AsksForALeaseIfEitherDid) {
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      const AgentReport unsent{.is_news_only = first};
      AgentReport next{.is_news_only = second};
      take_over(unsent, next);
      EXPECT_EQ(next.is_news_only, first && second);
    }
  }
}

}  // namespace
}  // namespace hai
