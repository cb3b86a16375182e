// A whole cluster joins at once: who is told to wait does, and they do not all come back together.

#include "agent/join_patience.h"

#include <gtest/gtest.h>

#include <set>

namespace hai {
namespace {

// How long it goes on asking a server that always says this.
Duration time_with(const Status& why, int* tries = nullptr) {
  JoinPatience patience(7);
  Duration waited{0};
  while (const auto pause = patience.pause_after(why, waited)) {
    EXPECT_GE(*pause, 200ms);
    EXPECT_LE(*pause, JoinPatience::kPauseMax);
    waited += *pause;
    if (tries != nullptr) ++*tries;
  }
  return waited;
}

TEST(JoinPatience, ABusyServerIsAskedForMinutesAndOthersForOne) {
  for (const Status& busy : {resource_exhausted("too many callers"), deadline_exceeded("slow")}) {
    int tries = 0;
    const Duration waited = time_with(busy, &tries);
    EXPECT_GT(waited, JoinPatience::kBusy - JoinPatience::kPauseMax);
    EXPECT_LE(waited, JoinPatience::kBusy);
    EXPECT_GT(tries, 30) << "whoever waits is soon there when there is room";
  }
  const Status away = unavailable("does not lead");
  EXPECT_GT(time_with(away), JoinPatience::kAway - JoinPatience::kPauseMax);
  EXPECT_LE(time_with(away), JoinPatience::kAway);
}

TEST(JoinPatience, WhatWaitingDoesNotMendIsTheLastWord) {
  for (const Status& why : {ok(), unauthenticated("no such token"), permission_denied("not for it"),
                            failed_precondition("used up"), invalid_argument("no name")}) {
    EXPECT_EQ(JoinPatience(1).pause_after(why, Duration(0)), std::nullopt) << why.message();
  }
}

TEST(JoinPatience, TheRefusedComeBackSpread) {
  std::set<Duration> pauses;
  for (uint64_t seed = 0; seed < 1'250; ++seed) {
    pauses.insert(*JoinPatience(seed).pause_after(resource_exhausted("busy"), Duration(0)));
  }
  EXPECT_GT(pauses.size(), 1'000u);
  EXPECT_GT(*pauses.rbegin() - *pauses.begin(), 150ms);
}

}  // namespace
}  // namespace hai
