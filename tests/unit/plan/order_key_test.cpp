// What orders jobs of one level: classes, usage that decays, quanta, levels that do not last.

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/plan/usage.h"

namespace hai::test {
namespace {

constexpr int64_t kHour = 3600;

TEST(FeedbackClass, DoublesFromTheBase) {
  const Knobs knobs;
  EXPECT_EQ(feedback_class(knobs, -1), 0);
  EXPECT_EQ(feedback_class(knobs, kHour - 1), 0);
  EXPECT_EQ(feedback_class(knobs, kHour), 1);
  EXPECT_EQ(feedback_class(knobs, 2 * kHour - 1), 1);
  EXPECT_EQ(feedback_class(knobs, 2 * kHour), 2);
  EXPECT_EQ(feedback_class(knobs, 1024 * kHour), 11);
  EXPECT_EQ(feedback_class(knobs, INT64_MAX), kClassMax);
}

TEST(FeedbackClass, EndsWhereTheNextOneBegins) {
  Knobs knobs;
  for (Duration base : {Duration(1min), Duration(1h), Duration(24h)}) {
    knobs.feedback_base = base;
    for (int i = 0; i < 30; ++i) {
      EXPECT_EQ(feedback_class(knobs, class_end(knobs, i) - 1), i);
      EXPECT_EQ(feedback_class(knobs, class_end(knobs, i)), i + 1);
    }
  }
}

TEST(FeedbackClass, IsOneForAllUnderFifo) {
  EXPECT_EQ(feedback_class(fifo_knobs(), 1'000'000'000), 0);
}

TEST(Decayed, FollowsTheExponentialWithinHalfAPercent) {
  const GpuUsage usage{1'000'000'000'000, unix_micros(5'000'000)};
  const Duration half_life = 168h;
  for (int percent = 0; percent <= 1'000; ++percent) {
    const Duration age = half_life * percent / 100;
    const double exact = static_cast<double>(usage.gpu_seconds) * std::exp2(-percent / 100.0);
    const auto value = static_cast<double>(decayed(usage, usage.at + age, half_life));
    EXPECT_NEAR(value / exact, 1, 0.005) << percent << " % of the half-life";
  }
}

TEST(Decayed, NeverGrows) {
  const GpuUsage usage{1'000'000, unix_micros(0)};
  int64_t before = usage.gpu_seconds;
  for (int minute = 0; minute < 60 * 24 * 30; minute += 7) {
    const int64_t value = decayed(usage, usage.at + minute * Duration(1min), 168h);
    EXPECT_LE(value, before);
    before = value;
  }
}

TEST(Decayed, EndsAtNothingAndDoesNotRunBackwards) {
  const GpuUsage usage{1'000'000, unix_micros(1'000)};
  EXPECT_EQ(decayed(usage, usage.at + 63 * Duration(168h), 168h), 0);
  EXPECT_EQ(decayed(usage, usage.at - 1h, 168h), usage.gpu_seconds);
}

TEST(Quantum, IsAtLeastTheKnob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId silent = c.run(job("silent"), {"node-1"});
  EXPECT_EQ(quantum_of(c.knobs, c.job(silent)), c.knobs.min_quantum);
}

TEST(Quantum, IsSoLongThatSwitchingStaysASmallShare) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId slow = c.run(job("slow"), {"node-1"});
  c.checkpoint(slow, 0s, 60);
  EXPECT_EQ(quantum_of(c.knobs, c.job(slow)), Duration(90s) * 50) << "60 s save, 30 s restart: 2 %";
}

TEST(AboveNormal, CountsAsNormalOnceItHasRunForHalfAnHour) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = c.run(job("j").priority(Priority::above_normal).nodes(2), {"node-1", "node-2"});
  const auto level = [&] { return order_level(c.knobs, c.job(id), Priority::above_normal, c.now); };
  c.advance(30min - 1s);
  EXPECT_EQ(level(), Priority::above_normal);
  c.advance(1s);
  EXPECT_EQ(level(), Priority::normal);
}

TEST(AboveNormal, StaysNormalWhileItWaitsAgain) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId late = ran(c, job("late").priority(Priority::above_normal), "node-1", 30min);
  const JobId early = ran(c, job("early").priority(Priority::above_normal), "node-1", 10min);
  c.advance(100h);
  EXPECT_EQ(order_level(c.knobs, c.job(late), Priority::above_normal, c.now), Priority::normal);
  EXPECT_EQ(order_level(c.knobs, c.job(early), Priority::above_normal, c.now),
            Priority::above_normal)
      << "waiting is not running";
}

TEST(AboveNormal, IsTheOnlyLevelThatDoesNotLast) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("j").priority(Priority::high), {"node-1"});
  c.advance(100h);
  EXPECT_EQ(order_level(c.knobs, c.job(id), Priority::high, c.now), Priority::high);
}

TEST(WaitingSince, IsWhenThePresentWaitBegan) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.submit(job("j"));
  EXPECT_EQ(waiting_since(c.job(id)), c.now);
  c.advance(10min).place(id, c.on({"node-1"}));
  c.confirm(id);
  c.advance(10min);
  leave_charged(c, id);
  EXPECT_EQ(waiting_since(c.job(id)), c.now);
}

TEST(WaitingSince, IsNotBeforeItsBeginTime) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const UnixTime begin = c.now + 1h;
  const JobId id = c.submit(job("j").begin_at(begin));
  EXPECT_EQ(waiting_since(c.job(id)), begin);
}

TEST(GpuSecondsHad, CountsEveryGpuAndTheAttemptThatRuns) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId id = ran(c, job("j"), "node-1", 10min);
  EXPECT_EQ(gpu_seconds_had(c.job(id), c.now), 8 * 600);
  c.place(id, c.on({"node-2"}));
  c.confirm(id);
  c.advance(5min);
  EXPECT_EQ(gpu_seconds_had(c.job(id), c.now), 8 * 900);
  EXPECT_EQ(ran_for(c.job(id), c.now), Duration(15min));
}

}  // namespace
}  // namespace hai::test
