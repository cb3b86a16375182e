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

TEST(VirtualLoop, APauseCanEndEarly) {
  Timeline timeline;
  VirtualLoop loop(timeline);
  bool has_run = false;
  loop.pause(1h);
  loop.call_after(1s, [&] { has_run = true; });
  timeline.run_until(at(5s));
  EXPECT_FALSE(has_run);
  loop.resume();
  timeline.run_until(at(5s));
  EXPECT_TRUE(has_run);
}

TEST(VirtualLoop, AClockThatSlipsIsLateWithAll) {
  Timeline timeline;
  MachineClock clock;
  VirtualLoop loop(timeline, &clock);
  MonoTime ran_at{};
  loop.call_after(10s, [&] { ran_at = loop.now(); });
  timeline.run_until(at(4s));
  clock.slipped += 2s;
  loop.postpone(2s);
  EXPECT_EQ(loop.now(), at(2s));
  timeline.run_until(at(11s));
  EXPECT_EQ(ran_at, MonoTime{});
  EXPECT_EQ(timeline.next(), at(12s));
  timeline.run_until(at(12s));
  EXPECT_EQ(ran_at, at(10s));
}

TEST(VirtualLoop, RanksOrderWhatFallsDueAtOnce) {
  Timeline timeline;
  VirtualLoop second(timeline);
  VirtualLoop first(timeline);
  second.set_rank(2);
  first.set_rank(1);
  std::string ran;
  second.call_after(2s, [&] { ran += 'c'; });
  first.call_after(2s, [&] { ran += 'b'; });
  timeline.run_until(at(1s));
  first.call_after(1s, [&] { ran += 'a'; });
  EXPECT_EQ(first.due().size(), 2u);
  EXPECT_EQ(first.due()[0].delay, 1s);
  timeline.run_until(at(2s));
  EXPECT_EQ(ran, "abc");
}

}  // namespace
}  // namespace hai::test
