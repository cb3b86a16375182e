// Pauses, clocks and their order.

#include "sim/virtual_loop.h"

#include <gtest/gtest.h>

namespace hai::test {
namespace {

MonoTime at(Duration time) { return MonoTime{} + time; }

// A prolonged pause once turned the order of what had fallen due before and after that (sim seed
// 1510: a rank "ended" and was "running" ever after).
TEST(VirtualLoop, WhatFellDueInAPauseRunsInThatOrder) {
  Timeline timeline;
  VirtualLoop loop(timeline);
  std::vector<int> ran;
  loop.pause(60s);
  loop.call_after(10s, [&] { ran.push_back(1); });
  timeline.run_until(at(20s));
  loop.pause(55s);
  loop.call_after(10s, [&] { ran.push_back(2); });
  timeline.run_until(at(74s));
  EXPECT_TRUE(ran.empty());
  timeline.run_until(at(75s));
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
}

TEST(VirtualLoop, WhatIsCancelledInAPauseDoesNotRun) {
  Timeline timeline;
  VirtualLoop loop(timeline);
  bool has_run = false;
  loop.pause(10s);
  const TimerId timer = loop.call_after(1s, [&] { has_run = true; });
  timeline.run_until(at(5s));
  loop.cancel(timer);
  timeline.run_until(at(20s));
  EXPECT_FALSE(has_run);
}

TEST(VirtualLoop, ADriftingClockMeasuresItsOwnSeconds) {
  Timeline timeline;
  const MachineClock fast{.drift_ppm = 1'000};
  const MachineClock slow{.drift_ppm = -1'000};
  VirtualLoop early(timeline, &fast);
  VirtualLoop late(timeline, &slow);
  std::vector<Duration> ran;
  early.call_after(1'000s, [&] { ran.push_back(timeline.now().time_since_epoch()); });
  late.call_after(1'000s, [&] { ran.push_back(timeline.now().time_since_epoch()); });
  timeline.run_until(at(2'000s));
  ASSERT_EQ(ran.size(), 2u);
  EXPECT_EQ(ran[0] / 1s, 999);
  EXPECT_EQ(ran[1] / 1s, 1'001);
  EXPECT_EQ(early.now(), at(2'002s));
}

TEST(VirtualLoop, AJumpMovesTheWallClockOnly) {
  Timeline timeline;
  MachineClock clock;
  VirtualLoop loop(timeline, &clock);
  clock.wall_skew = 5h;
  EXPECT_EQ(loop.wall_now(), VirtualLoop::kWallStart + 5h);
  EXPECT_EQ(loop.now(), MonoTime{});
}

}  // namespace
}  // namespace hai::test
