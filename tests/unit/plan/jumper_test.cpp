// Who starts in a hole before one that is before it in the order has jumped; whoever was jumped may
// take the nodes back.

#include "tests/unit/plan/plan_matchers.h"
#include "tests/unit/plan/usage.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// `big` of ann needs both nodes and waits for `first`; `small` has jumped it five minutes later.
struct Jumped {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId first;
  JobId small;
  explicit Jumped(const std::string& jumper, Policy policy = Policy::feedback) {
    c.knobs.policy = policy;
    c.knobs.interrupt_percent = 100;
    first = c.run(job("first").user("eve"), {"node-1"});
    c.submit(job("big").nodes(2));
    c.advance(5min);
    small = c.submit(job("small").user(jumper));
    EXPECT_THAT(starts(c, c.pass()), ElementsAre("small: node-2"));
    c.confirm(small);
    c.advance(1min);
    c.finish(first);
  }
};

TEST(Jumper, IsFlagged) {
  Jumped j("bob");
  EXPECT_TRUE(j.c.attempt(j.small).jumper);
}

TEST(Jumper, IsNobodyWhoWasNext) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.submit(job("a"));
  c.submit(job("b"));
  for (const StartItem& item : c.plan().starts) EXPECT_FALSE(item.is_jumper);
}

TEST(Jumper, IsNobodyInAnotherGroup) {
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(8)).group("dev"));
  c.submit(job("big").nodes(2));
  c.submit(job("dev").group("dev"));
  const Plan plan = c.plan();
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_FALSE(plan.starts[0].is_jumper);
}

TEST(Jumper, MayBeTakenBackBeforeItsQuantumIsOver) {
  for (Policy policy : {Policy::feedback, Policy::fifo}) {
    Jumped j("bob", policy);
    EXPECT_THAT(reserves(j.c, j.c.plan()), ElementsAre("big: node-1,node-2 <- small"))
        << to_string(policy);
  }
}

TEST(Jumper, OfOnesOwnOnlyAfterAWhile) {
  for (Policy policy : {Policy::feedback, Policy::fifo}) {
    Jumped j("ann", policy);
    EXPECT_THAT(reserves(j.c, j.c.plan()), IsEmpty()) << to_string(policy);
    j.c.advance(j.c.knobs.reserve_after - 6min);
    EXPECT_THAT(reserves(j.c, j.c.plan()), ElementsAre("big: node-1,node-2 <- small"))
        << to_string(policy);
  }
}

TEST(Jumper, OnlyByThoseItHasJumped) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.knobs.policy = Policy::fifo;
  c.run(job("first"), {"node-1"});
  c.submit(job("big").nodes(2));
  c.advance(5min);
  const JobId small = c.submit(job("small").user("bob"));
  c.pass();
  c.confirm(small);
  c.submit(job("later").user("eve"));
  c.advance(5h);
  EXPECT_THAT(reserves(c, c.plan()), IsEmpty()) << "later came after small; big has no room";
}

// One that stood first in its own right is no jumper, however long others wait.
TEST(Jumper, NobodyElseOfItsLevelIsTakenBackUnderFifo) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.knobs.policy = Policy::fifo;
  c.run(job("first").user("bob"), {"node-1"});
  c.submit(job("big").nodes(2));
  c.advance(100h);
  EXPECT_THAT(reserves(c, c.plan()), IsEmpty());
}

TEST(Jumper, IsNoJumperInItsNextAttempt) {
  Jumped j("bob");
  leave_charged(j.c, j.small);
  const Plan plan = j.c.pass();
  EXPECT_THAT(starts(j.c, plan), ElementsAre("big: node-1,node-2"));
  EXPECT_FALSE(plan.starts[0].is_jumper);
}

}  // namespace
}  // namespace hai::test
