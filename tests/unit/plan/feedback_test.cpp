// Jobs of one level that take turns (policy feedback), and those that do not (fifo).

#include "tests/unit/plan/plan_matchers.h"
#include "tests/unit/plan/usage.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Feedback, TheLighterUserFirstInsideAClass) {
  Cluster c = cluster(nodes(1, gpus(8)));
  used(c, "bob", "node-1", 2h);
  c.submit(job("of-bob").user("bob"));
  c.submit(job("of-ann"));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("of-ann: node-1"));
}

TEST(Feedback, TheLowerClassBeforeTheLighterUser) {
  Cluster c = cluster(nodes(2, gpus(8)));
  used(c, "bob", "node-1", 20h);
  ran(c, job("old-of-ann"), "node-1", 2h);
  c.run(job("top").priority(Priority::extreme_high), {"node-1"});
  c.submit(job("new-of-bob").user("bob"));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("new-of-bob: node-2"));
}

TEST(Feedback, WhatAPassGivesCountsAtOnce) {
  Cluster c = cluster(nodes(4, gpus(8)));
  for (int i = 1; i <= 3; ++i) c.submit(job(fmt::format("a{}", i)));
  for (int i = 1; i <= 3; ++i) c.submit(job(fmt::format("b{}", i)).user("bob"));
  EXPECT_THAT(starts(c, c.plan()),
              ElementsAre("a1: node-1", "b1: node-2", "a2: node-3", "b2: node-4"));
}

TEST(Feedback, LevelsComeBeforeEverything) {
  Cluster c = cluster(nodes(1, gpus(8)));
  used(c, "bob", "node-1", 100h);
  c.submit(job("normal"));
  c.submit(job("high").user("bob").priority(Priority::high));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("high: node-1"));
}

TEST(Feedback, WaitingLiftsAJobPastNewerOnesThatHadLess) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId old = ran(c, job("old"), "node-1", 2h);  // class 5
  c.advance(3h);
  c.submit(job("new").user("bob"));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("new: node-1"));
  c.emit(JobFinished{JobId{2}, JobState::stopped, 0, "test"});
  c.advance(5h);
  c.submit(job("newer").user("bob"));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("old: node-1"));
  EXPECT_EQ(c.job(old).counters.suspend_count, 1);
}

TEST(Feedback, UnderFifoOnlySubmitOrderCounts) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.knobs.policy = Policy::fifo;
  used(c, "bob", "node-1", 100h);
  c.submit(job("of-bob").user("bob"));
  c.submit(job("of-ann"));
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("of-bob: node-1"));
}

// bob's job runs on the only node, ann's has waited for as long.
struct Turn {
  Cluster c = cluster(nodes(1, gpus(8)));
  explicit Turn(Duration time, const std::string& runner = "bob") {
    c.knobs.interrupt_percent = 100;
    c.run(job("runs").user(runner), {"node-1"});
    c.submit(job("waits"));
    c.advance(time);
  }
  std::vector<std::string> plan() const { return reserves(c, c.plan()); }
};

TEST(TakingTurns, WhoHasHadItsQuantumMakesRoomForWhoHadLess) {
  EXPECT_THAT(Turn(31min).plan(), ElementsAre("waits: node-1 <- runs"));
}

TEST(TakingTurns, TheQuantumProtects) {
  Turn turn(30min - 1s);
  turn.c.checkpoint(JobId{1}, 0s);
  EXPECT_THAT(turn.plan(), IsEmpty());
  turn.c.advance(1s);
  EXPECT_THAT(turn.plan(), ElementsAre("waits: node-1 <- runs"));
}

TEST(TakingTurns, TheQuantumOfASlowSaverIsLonger) {
  Turn turn(1h);
  turn.c.checkpoint(JobId{1}, 0s, 60);
  EXPECT_THAT(turn.plan(), IsEmpty()) << "75 min";
  turn.c.advance(15min);
  EXPECT_THAT(turn.plan(), ElementsAre("waits: node-1 <- runs"));
}

TEST(TakingTurns, NotAmongOnesOwnJobs) { EXPECT_THAT(Turn(5h, "ann").plan(), IsEmpty()); }

TEST(TakingTurns, NotForMoreThanOneHasWaited) {
  Turn turn(1h);
  turn.c.checkpoint(JobId{1}, 1h);
  EXPECT_THAT(turn.plan(), IsEmpty()) << "an hour of work and 30 s to restart";
  turn.c.checkpoint(JobId{1}, 59min);
  EXPECT_THAT(turn.plan(), ElementsAre("waits: node-1 <- runs"));
}

TEST(TakingTurns, TheKnobSaysHowMuchOfTheWaitingCounts) {
  Turn turn(1h);
  turn.c.checkpoint(JobId{1}, 30min);
  turn.c.knobs.interrupt_percent = 50;
  EXPECT_THAT(turn.plan(), IsEmpty()) << "30 min, and 30 s to restart";
  turn.c.knobs.interrupt_percent = 51;
  EXPECT_THAT(turn.plan(), ElementsAre("waits: node-1 <- runs"));
}

TEST(TakingTurns, NeverUnderFifo) {
  Turn turn(100h);
  turn.c.knobs.policy = Policy::fifo;
  EXPECT_THAT(turn.plan(), IsEmpty());
}

// Else two users would swap places for ever.
TEST(TakingTurns, InsideAClassOnlyWithWhoHadTwiceAsMuch) {
  for (const Duration before : {Duration(1h), Duration(40h)}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    used(c, "ann", "node-1", 10h);
    used(c, "bob", "node-1", before);
    c.run(job("runs").user("bob").gpus(1), {"node-1"}, GpuSet::first(8));
    c.submit(job("waits"));
    c.knobs.feedback_base = 24h;
    c.advance(59min).checkpoint(JobId{3}, 0s);
    EXPECT_EQ(c.plan().reserves.size(), before == Duration(40h) ? 1U : 0U);
  }
}

TEST(TakingTurns, NearEqualsDoNotSwapPlaces) {
  for (const auto& [before, turns] : {std::pair(15h, 0U), {17h, 0U}, {21h, 1U}}) {
    Cluster c = cluster(nodes(2, gpus(8)));
    c.knobs.usage_half_life = 10'000h;
    c.knobs.feedback_base = 24h;
    used(c, "ann", "node-1", 10h);
    used(c, "bob", "node-1", before);
    c.run(job("runs").user("bob"), {"node-1"});
    c.run(job("other").user("eve").priority(Priority::high), {"node-2"});
    c.submit(job("waits"));
    c.advance(59min).checkpoint(JobId{3}, 0s);
    EXPECT_EQ(c.plan().reserves.size(), turns) << "ann had 10 h, bob one more than " << before;
  }
}

TEST(TakingTurns, AHigherLevelWaitsForNoQuantum) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("runs"), {"node-1"});
  c.submit(job("high").priority(Priority::high));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("high: node-1 <- runs"));
}

TEST(TakingTurns, AboveNormalLosesItsLevelAfterHalfAnHour) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("runs").priority(Priority::above_normal), {"node-1"});
  c.advance(30min - 1s);
  c.submit(job("waits").priority(Priority::above_normal).user("bob"));
  EXPECT_THAT(reserves(c, c.plan()), IsEmpty());
  c.advance(1s);
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("waits: node-1 <- runs"));
}

}  // namespace
}  // namespace hai::test
