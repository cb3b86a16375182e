// A plan's items are checked again: what an earlier item has changed makes a later one void, never
// wrong.

#include "server/plan/carry_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/model/invariants.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::IsEmpty;

void apply(Cluster& c, const Plan& plan) {
  c.decide_with([&](Decision& decision) { carry_out(decision, plan); });
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

TEST(ApplyPlan, StartsEachItemOnce) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.submit(job("j"));
  apply(c, {.starts = {{id, c.on({"node-1"}), Priority::normal},
                       {id, c.on({"node-2"}), Priority::normal}}});
  EXPECT_EQ(c.attempt(id).number, 1);
  EXPECT_EQ(c.attempt(id).ranks[0].place.node, NodeId{1});
}

TEST(ApplyPlan, IgnoresStartsThatAreNoLongerPossible) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(job("runs"), {"node-1"});
  c.set_liveness("node-2", Liveness::suspect);
  JobId held = c.submit(job("held"));
  c.emit(JobHeld{held, "x"});
  JobId free = c.submit(job("free"));
  JobId ended = c.submit(job("ended"));
  c.finish(ended);
  size_t before = c.events().size();
  apply(c, {.starts = {{free, c.on({"node-1"}), Priority::normal},
                       {free, c.on({"node-2"}), Priority::normal},
                       {free, {{NodeId{9}, GpuSet::first(8)}}, Priority::normal},
                       {held, c.on({"node-3"}), Priority::normal},
                       {ended, c.on({"node-3"}), Priority::normal},
                       {JobId{99}, c.on({"node-3"}), Priority::normal}}});
  EXPECT_EQ(c.events().size(), before);
}

TEST(ApplyPlan, IgnoresReservesOverJobsThatAreNoVictims) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId a = c.run(job("a").gpus(4), {"node-1"}, GpuSet::first(4));
  JobId b = c.run(job("b").gpus(4), {"node-1"}, GpuSet{0xf0});
  JobId j = c.submit(job("j"));
  apply(c, {.reserves = {{j, c.on({"node-1"}), Priority::high, {a}}}});
  EXPECT_FALSE(c.job(j).reservation.has_value());
  EXPECT_EQ(c.attempt(a).state, AttemptState::running) << "nobody is suspended for nothing";
  apply(c, {.reserves = {{j, c.on({"node-1"}), Priority::high, {a, b}}}});
  EXPECT_TRUE(c.job(j).reservation.has_value());
  EXPECT_EQ(c.attempt(b).suspended_for, j);
}

TEST(ApplyPlan, IgnoresReservesForJobsThatDoNotWait) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId victim = c.run(job("victim").priority(Priority::low), {"node-1"});
  const JobId runs = c.run(job("runs"), {"node-2"});
  const JobId ended = c.submit(job("ended"));
  c.finish(ended);
  const size_t before = c.events().size();
  for (const JobId id : {runs, ended, JobId{99}}) {
    apply(c, {.reserves = {{id, c.on({"node-1"}), Priority::high, {victim}}}});
  }
  EXPECT_EQ(c.events().size(), before);
}

TEST(ApplyPlan, NeverHoldsOneGpuForTwo) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId low = c.run(job("low").priority(Priority::low), {"node-1"});
  JobId a = c.submit(job("a"));
  JobId b = c.submit(job("b"));
  apply(c, {.reserves = {{a, c.on({"node-1"}), Priority::normal, {low}},
                         {b, c.on({"node-1"}), Priority::normal, {low}}}});
  EXPECT_TRUE(c.job(a).reservation.has_value());
  EXPECT_FALSE(c.job(b).reservation.has_value());
}

TEST(ApplyPlan, DropsBeforeItStarts) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId a = c.submit(job("a"));
  JobId b = c.submit(job("b"));
  c.emit(NodesReserved{a, {c.on({"node-1"}), Priority::normal, {}, c.now}});
  apply(c, {.drops = {{a, "test"}}, .starts = {{b, c.on({"node-1"}), Priority::high}}});
  EXPECT_TRUE(c.job(b).has_live_attempt());
}

TEST(ApplyPlan, ContinuesOnlyWhoIsLeavingStill) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j"), {"node-1"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, JobId{9}, "asked"});
  c.emit(AttemptEnding{id, 1, {AttemptState::suspended, 0, "left", false}});
  apply(c, {.continues = {{id, "test"}, {JobId{77}, "test"}}});
  EXPECT_EQ(c.attempt(id).state, AttemptState::suspending);
}

}  // namespace
}  // namespace hai::test
