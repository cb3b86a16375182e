#include "agent/shim/rank_life.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

MonoTime at(Duration since_start) { return MonoTime(1h + since_start); }

constexpr LifeOrders kNothing{};
constexpr LifeOrders kSignal{.signal_program = true};
constexpr LifeOrders kTerminate{.terminate_tree = true};
constexpr LifeOrders kKill{.kill_tree = true};

TEST(RankLife, SuspendsAtTheFirstDeadlineOnly) {
  RankLife life(at(1h));
  EXPECT_EQ(life.suspend(60s, at(0s)), kSignal);
  EXPECT_EQ(life.suspend(600s, at(10s)), kNothing);
  EXPECT_EQ(life.next_deadline(), at(60s));
  EXPECT_EQ(life.advance(at(59s)), kNothing);
  EXPECT_EQ(life.advance(at(60s)), kTerminate);
  EXPECT_EQ(life.advance(at(64s)), kNothing);
  EXPECT_EQ(life.advance(at(65s)), kKill);
  EXPECT_EQ(life.cause(), ExitCause::grace_over);
}

TEST(RankLife, ContinuesAfterASuspendIsTakenBack) {
  RankLife life(at(1h));
  life.suspend(60s, at(0s));
  life.go_on();
  EXPECT_FALSE(life.is_suspend_requested());
  EXPECT_EQ(life.advance(at(61s)), kNothing);
  EXPECT_EQ(life.suspend(5s, at(70s)), kSignal);
  EXPECT_EQ(life.next_deadline(), at(75s));
}

TEST(RankLife, WhatEndsAfterItWasToldHasLeft) {
  for (const int code : {0, 1, 143}) {
    RankLife life(at(1h));
    life.suspend(60s, at(0s));
    life.was_told();
    EXPECT_EQ(life.program_exited(code, true, at(20s)), kNothing);
    EXPECT_EQ(life.cause(), ExitCause::left);
    EXPECT_EQ(life.exit_code(), code);
    EXPECT_EQ(life.next_deadline(), at(60s)) << "a wrapper is gone, and its program still saves";
    EXPECT_EQ(life.advance(at(60s)), kKill);
  }
}

TEST(RankLife, OneProcessThatLeavesDoesNotCostTheOthersTheirGrace) {
  RankLife life(at(1h));
  life.suspend(60s, at(0s));
  life.was_told();
  EXPECT_EQ(life.program_exited(143, false, at(1s)), kNothing);
  EXPECT_EQ(life.program_exited(0, true, at(30s)), kNothing);
  EXPECT_EQ(life.cause(), ExitCause::left);
}

TEST(RankLife, ASignalCannotBeTakenBackButIsForgotten) {
  RankLife life(at(1h));
  life.suspend(60s, at(0s));
  life.was_told();
  life.go_on();
  RankLife late = life;
  life.program_exited(0, true, at(50s));
  EXPECT_EQ(life.cause(), ExitCause::left) << "it leaves because of the signal";
  late.program_exited(0, true, at(61s));
  EXPECT_EQ(late.cause(), ExitCause::program) << "it took no notice and has ended as it meant to";
}

TEST(RankLife, CannotBeTakenBackOnceItEnds) {
  RankLife life(at(1h));
  life.suspend(1s, at(0s));
  EXPECT_EQ(life.advance(at(1s)), kTerminate);
  life.go_on();
  EXPECT_TRUE(life.is_suspend_requested());
  EXPECT_EQ(life.advance(at(6s)), kKill);
}

TEST(RankLife, FencesAtTheEndOfTheLease) {
  RankLife life(at(30s));
  life.extend_lease(at(40s));
  life.extend_lease(at(20s));  // An older promise does not take back a newer one.
  EXPECT_EQ(life.advance(at(39s)), kNothing);
  EXPECT_EQ(life.advance(at(40s)), kKill);
  EXPECT_EQ(life.cause(), ExitCause::fenced);
}

TEST(RankLife, LeaseCutsPatienceShortButNotTheCause) {
  RankLife life(at(3s));
  EXPECT_EQ(life.end(ExitCause::killed, "", 5s, at(0s)), kTerminate);
  EXPECT_EQ(life.next_deadline(), at(3s));
  EXPECT_EQ(life.advance(at(3s)), kKill);
  EXPECT_EQ(life.cause(), ExitCause::killed);
}

TEST(RankLife, KillIsRepeatedEverMoreRarely) {
  RankLife life(at(1h));
  life.end_at_once(ExitCause::launch_failed, "why", at(0s));
  MonoTime now = at(0s);
  Duration last{0};
  for (int i = 0; i < 20; ++i) {
    const Duration interval = life.next_deadline() - now;
    EXPECT_GE(interval, last);
    EXPECT_LE(interval, 1s);
    last = interval;
    now = life.next_deadline();
    EXPECT_EQ(life.advance(now), kKill);
  }
  EXPECT_EQ(last, 1s);
}

TEST(RankLife, GivesLeftoversAMoment) {
  RankLife life(at(1h));
  EXPECT_EQ(life.program_exited(3, true, at(0s)), kNothing);
  EXPECT_EQ(life.advance(at(4s)), kNothing);
  EXPECT_EQ(life.advance(at(5s)), kKill);
  EXPECT_EQ(life.cause(), ExitCause::program);
  EXPECT_EQ(life.exit_code(), 3);
}

TEST(RankLife, FirstFailureEndsTheOthers) {
  RankLife life(at(1h));
  EXPECT_EQ(life.program_exited(0, false, at(0s)), kNothing);
  EXPECT_EQ(life.program_exited(7, false, at(1s)), kTerminate);
  EXPECT_EQ(life.program_exited(143, true, at(2s)), kTerminate);
  EXPECT_EQ(life.cause(), ExitCause::program);
  EXPECT_EQ(life.exit_code(), 7);
}

TEST(RankLife, AShorterPatienceWins) {
  RankLife life(at(1h));
  life.end(ExitCause::killed, "", 5s, at(0s));
  EXPECT_EQ(life.end(ExitCause::go_suspend, "", 1s, at(1s)), kNothing);
  EXPECT_EQ(life.advance(at(2s)), kKill);
  EXPECT_EQ(life.cause(), ExitCause::killed);
}

TEST(RankLife, SuspendWhileEndingSendsNoSignal) {
  RankLife life(at(1h));
  life.end(ExitCause::killed, "", 5s, at(0s));
  EXPECT_EQ(life.suspend(60s, at(1s)), kNothing);
}

}  // namespace
}  // namespace hai
