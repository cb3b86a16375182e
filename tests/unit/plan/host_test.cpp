// CPUs and memory in placement, and jobs without GPUs (docs/design/0010).

#include "server/model/invariants.h"
#include "server/plan/blocking.h"
#include "server/plan/carry_out.h"
#include "server/plan/time_sharing.h"
#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr GpuSet kFirstFour = GpuSet::first(4);

// Nodes of 8 GPUs, 64 CPUs and 800 GiB: 8 CPUs and 100 GiB come with a GPU.
Cluster nodes_of_eight(int count) { return cluster(nodes(count, gpus(8)).memory_gib(800)); }
JobBuilder without_gpus(const std::string& name) { return job(name).gpus(kNoGpus); }

TEST(Host, TwoSharesNeverGetMoreCpusThanTheNodeHas) {
  Cluster c = nodes_of_eight(1);
  c.submit(job("a").gpus(1).cpus(40));
  const JobId b = c.submit(job("b").gpus(1).cpus(40));
  const Plan plan = c.pass();
  EXPECT_THAT(starts(c, plan), ElementsAre("a: node-1[0]"));
  EXPECT_EQ(pending_text(c.plan(), b),
            "needs 1 node with 1 free GPU and 40 CPUs in training; 0 of 1 open node can give that "
            "now; CPUs are short on 1 whose GPUs would do");
  EXPECT_EQ(pending_code(c.plan(), b), "resources");
}

TEST(Host, MemoryLikewise) {
  Cluster c = nodes_of_eight(1);
  c.submit(job("a").gpus(4).memory_gib(600));
  const JobId b = c.submit(job("b").gpus(2).memory_gib(300));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[0,1,2,3]"));
  EXPECT_THAT(pending_text(c.plan(), b), HasSubstr("; memory is short on 1 whose GPUs would do"));
}

// 24 of the other GPUs' CPUs are gone: of the 7 GPUs that are left 4 still have theirs.
TEST(Host, AShareThatAsksForNothingNeedsItsProportion) {
  Cluster c = nodes_of_eight(1);
  c.run(job("hog").gpus(1).cpus(32), {"node-1"}, GpuSet::first(1));
  c.submit(job("a").gpus(4));
  c.submit(job("b").gpus(1));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[4,5,6,7]"));
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

TEST(Host, WhatOneLeavesAnotherMayTake) {
  Cluster c = nodes_of_eight(1);
  c.run(job("modest").gpus(4).cpus(4), {"node-1"}, kFirstFour);
  c.submit(job("a").gpus(4).cpus(60));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[4,5,6,7]"));
}

TEST(Host, AWholeNodeHasAllOfItAndNeedsANodeLargeEnough) {
  Cluster c = cluster(nodes(1, gpus(8)).cpus(32), nodes(1, gpus(8)).cpus(64));
  c.submit(job("a").cpus(48));
  c.submit(job("b").gpus(1).cpus(1));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-2", "b: node-1[0]"));
}

TEST(Host, UnknownAmountsAreNotCounted) {
  Cluster c = cluster(nodes(1, gpus(8)).cpus(0));
  c.submit(job("a").gpus(1).cpus(60).memory_gib(900));
  c.submit(job("b").gpus(1).cpus(60).memory_gib(900));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[0]", "b: node-1[1]"));
}

TEST(Host, InterruptsWhoHasTheCpus) {
  Cluster c = nodes_of_eight(1);
  c.run(low("hog").gpus(1).cpus(60), {"node-1"}, GpuSet::first(1));
  c.run(low("other").gpus(1).cpus(1), {"node-1"}, GpuSet{2});
  const JobId a = c.submit(high("a").gpus(4));
  EXPECT_THAT(reserves(c, c.pass()), ElementsAre("a: node-1[4,5,6,7] <- hog"));
  EXPECT_THAT(c.plan().starts, IsEmpty());
  c.leave(JobId{1});
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[4,5,6,7]"));
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
  EXPECT_TRUE(c.job(a).has_live_attempt());
}

// While the victim leaves, nobody takes what it will free, and it does not come back.
TEST(Host, WhatIsHeldIsGivenToNobodyElse) {
  Cluster c = nodes_of_eight(1);
  const JobId hog = c.run(low("hog").gpus(1).cpus(60), {"node-1"}, GpuSet::first(1));
  c.submit(high("a").gpus(4).cpus(50));
  EXPECT_THAT(reserves(c, c.pass()), ElementsAre("a: node-1[0,1,2,3] <- hog"));
  const JobId b = c.submit(high("b").gpus(2).cpus(15));
  EXPECT_THAT(c.pass().starts, IsEmpty());
  c.leave(hog);
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[0,1,2,3]"));
  EXPECT_TRUE(c.job(b).is_waiting());
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

// Each of two finds the CPUs that are free now; who is asked to leave for both must not stay when
// the first of them starts.
TEST(Host, TwoThatStartAtOnceDoNotCountTheSameCpusTwice) {
  Cluster c = nodes_of_eight(1);
  const JobId first = c.run(low("first").gpus(2).cpus(16), {"node-1"}, GpuSet{0x03});
  const JobId second = c.run(low("second").gpus(2).cpus(16), {"node-1"}, GpuSet{0x0c});
  const JobId hog = c.run(low("hog").gpus(1).cpus(32), {"node-1"}, GpuSet{0x10});
  const auto hold = [&](const char* name, GpuSet gpus, JobId victim) {
    const JobId id = c.submit(high(name).gpus(2).cpus(30));
    const Plan plan{.reserves = {{id, c.on({"node-1"}, gpus), Priority::high, {victim, hog}}}};
    c.decide_with([&](Decision& decision) { carry_out(decision, plan); });
    return id;
  };
  hold("a", GpuSet{0x03}, first);
  const JobId b = hold("b", GpuSet{0x0c}, second);
  c.leave(first);
  c.leave(second);
  const Plan plan = c.pass();
  EXPECT_THAT(starts(c, plan), ElementsAre("a: node-1[0,1]"));
  EXPECT_THAT(plan.continues, IsEmpty()) << "b still waits for it";
  EXPECT_EQ(pending_code(plan, b), "preempting");
  c.leave(hog);
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("b: node-1[2,3]"));
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

// The same victim makes room for either of two, not for both: who could wait for his own leaves
// enough for the two together.
TEST(Host, WhoStartsLeavesWhatIsHeldForTwoWhoWaitForTheSameVictim) {
  Cluster c = nodes_of_eight(1);
  const JobId shared = c.run(low("shared").gpus(2).cpus(14), {"node-1"}, GpuSet{0x50});
  const JobId own = c.run(low("own").gpus(1).cpus(20), {"node-1"}, GpuSet{0x01});
  const auto hold = [&](const char* name, GpuSet gpus, int cpus, JobId victim) {
    const JobId id = c.submit(high(name).gpus(2).cpus(cpus));
    const Plan plan{.reserves = {{id, c.on({"node-1"}, gpus), Priority::high, {victim}}}};
    c.decide_with([&](Decision& decision) { carry_out(decision, plan); });
  };
  hold("a", GpuSet{0x0c}, 24, own);
  hold("x", GpuSet{0x30}, 16, shared);
  hold("y", GpuSet{0xc0}, 16, shared);
  // 30 CPUs are free. If a took 24 of them, the 14 of the shared victim would do for one of the
  // two.
  EXPECT_THAT(c.pass().starts, IsEmpty());
  c.leave(own);
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[2,3]"));
  c.leave(shared);
  const Plan plan = c.pass();
  EXPECT_THAT(starts(c, plan), ElementsAre("x: node-1[4,5]", "y: node-1[6,7]"));
  EXPECT_THAT(plan.drops, IsEmpty());
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

// What it was promised is not taken by those who are there first and could wait for their own
// victim, whom neither may think gone because it leaves for the other.
TEST(Host, WhoStartsLeavesWhatIsHeldForAGangThatStillWaits) {
  Cluster c = nodes_of_eight(2);
  const JobId v = c.run(low("v").gpus(4), {"node-2"}, kFirstFour);
  c.run(job("w").gpus(4).priority(Priority::extreme_high), {"node-2"}, GpuSet{0xf0});
  const JobId cpu = c.submit(without_gpus("cpu").cpus(28));
  c.pass();
  c.confirm(cpu);
  const JobId gang = c.submit(high("gang").nodes(2).gpus(4));
  c.pass();
  ASSERT_EQ(c.job(gang).reservation->victims, std::vector{v});
  c.submit(high("a").gpus(2));
  c.submit(high("b").gpus(2));
  EXPECT_THAT(reserves(c, c.pass()), ElementsAre("a: node-1[4,5] <- cpu", "b: node-1[6,7] <- cpu"));
  const Plan plan = c.pass();
  EXPECT_THAT(plan.starts, IsEmpty());
  EXPECT_THAT(plan.drops, IsEmpty());
  EXPECT_THAT(plan.continues, IsEmpty());
  c.leave(cpu);
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[4,5]", "b: node-1[6,7]"));
  c.leave(v);
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("gang: node-1[0,1,2,3],node-2[0,1,2,3]"));
}

TEST(Host, AMachineThatBecameSmallerGivesItsReservationBack) {
  Cluster c = nodes_of_eight(2);
  const JobId v = c.run(low("v").gpus(4), {"node-1"}, kFirstFour);
  c.run(low("w").gpus(4), {"node-1"}, GpuSet{0xf0});
  c.run(job("top").priority(Priority::extreme_high), {"node-2"});
  const JobId a = c.submit(high("a").gpus(4).cpus(32));
  c.pass();
  ASSERT_TRUE(c.job(a).reservation.has_value());
  const JobId victim = c.job(a).reservation->victims[0];
  NodeFacts facts = c.node("node-1").facts;
  facts.cpus = 40;
  c.emit(NodeRegistered{NodeId{1}, facts});
  c.leave(victim);
  (void)v;
  const Plan plan = c.plan();
  ASSERT_EQ(plan.drops.size(), 1U);
  EXPECT_EQ(plan.drops[0].reason, "node node-1 has not the CPUs or the memory for it any more");
}

TEST(WithoutGpus, GoesWhereItLeavesGpusAlone) {
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(0)));
  c.submit(without_gpus("a").cpus(40));
  c.submit(without_gpus("b").cpus(40));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-2", "b: node-1[]"));
  EXPECT_FALSE(c.attempt(JobId{1}).exclusive);
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

TEST(WithoutGpus, HasOneCpuUnlessItAsksForMore) {
  Cluster c = cluster(nodes(1, gpus(0)).cpus(2));
  for (const char* name : {"a", "b", "c"}) c.submit(without_gpus(name));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1", "b: node-1"));
  EXPECT_EQ(pending_text(c.plan(), JobId{3}),
            "needs 1 node with 1 CPU free in training; 0 of 1 open node can give that now; CPUs "
            "are short on 1");
}

TEST(WithoutGpus, IsPlacedAfterAllOthersWhateverItsPriority) {
  Cluster c = nodes_of_eight(1);
  c.submit(without_gpus("cpu").priority(Priority::extreme_high).cpus(60));
  c.submit(low("gpu").gpus(4));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("gpu: node-1[0,1,2,3]"));
}

TEST(WithoutGpus, LeavesForEveryJobWithGpus) {
  Cluster c = nodes_of_eight(1);
  c.run(without_gpus("cpu").priority(Priority::extreme_high).cpus(60), {"node-1"});
  const JobId gang = c.submit(low("gang"));
  EXPECT_THAT(reserves(c, c.pass()), ElementsAre("gang: node-1 <- cpu"));
  c.leave(JobId{1});
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("gang: node-1"));
  EXPECT_TRUE(c.job(gang).has_live_attempt());
}

TEST(WithoutGpus, StaysWhereItIsInNobodysWay) {
  Cluster c = nodes_of_eight(2);
  c.run(without_gpus("cpu").cpus(30), {"node-1"});
  c.submit(job("share").gpus(4));
  c.submit(job("gang"));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("share: node-1[0,1,2,3]", "gang: node-2"));
}

TEST(WithoutGpus, NeverMakesAJumper) {
  Cluster c = nodes_of_eight(1);
  c.run(job("top").priority(Priority::extreme_high).gpus(4), {"node-1"}, kFirstFour);
  c.submit(without_gpus("big").priority(Priority::high).cpus(64));
  c.submit(job("share").gpus(4));
  const Plan plan = c.plan();
  ASSERT_THAT(starts(c, plan), ElementsAre("share: node-1[4,5,6,7]"));
  EXPECT_FALSE(plan.starts[0].is_jumper);
}

TEST(WithoutGpus, InterruptsNobody) {
  Cluster c = cluster(nodes(1, gpus(0)));
  c.run(without_gpus("a").priority(Priority::low).cpus(64), {"node-1"});
  const JobId b = c.submit(without_gpus("b").priority(Priority::extreme_high));
  EXPECT_THAT(c.plan().reserves, IsEmpty());
  const auto facts = blocking_set(c.state(), c.knobs, c.now, b);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].text,
            "job 1 (a) of ann runs on node-1 and a job without GPUs interrupts nobody");
}

TEST(WithoutGpus, TakesNothingOfAQuotaOfGpus) {
  Cluster c = nodes_of_eight(1);
  c.clear_quotas();
  for (Priority level : kPriorities) c.set_quota("public", "*", level, 0);
  c.submit(without_gpus("a"));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-1[]"));
  EXPECT_EQ(c.state().used_node_units("ann", "training", Priority::normal), 0);
  EXPECT_THAT(violated_invariants(c.state()), IsEmpty());
}

TEST(WithoutGpus, ADrainMovesItLikeOthers) {
  Cluster c = cluster(nodes(2, gpus(0)));
  c.run(without_gpus("a"), {"node-1"});
  c.set_scheduling("node-1", Scheduling::draining);
  EXPECT_THAT(jobs(c, c.pass().suspends), ElementsAre("a"));
  c.leave(JobId{1});
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-2"));
}

TEST(WithoutGpus, GangsOfThemStandOnSeveralNodes) {
  Cluster c = cluster(nodes(3, gpus(0)).cpus(4));
  c.run(without_gpus("a").cpus(3), {"node-2"});
  c.submit(without_gpus("gang").nodes(2).cpus(2));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("gang: node-1,node-3"));
}

TEST(BlockingOfHost, NamesWhoHasTheCpus) {
  Cluster c = nodes_of_eight(1);
  c.run(high("hog").gpus(1).cpus(60), {"node-1"}, GpuSet::first(1));
  c.run(high("other").gpus(1), {"node-1"}, GpuSet{2});
  const JobId a = c.submit(job("a").gpus(4).cpus(32));
  const auto facts = blocking_set(c.state(), c.knobs, c.now, a);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].job, JobId{1});
}

TEST(BlockingOfHost, MoreThanAnyNodeHas) {
  Cluster c = cluster(nodes(2, gpus(8)).cpus(32), nodes(1, gpus(8)));
  const JobId a = c.submit(job("a").nodes(2).gpus(4).cpus(48));
  const auto facts = blocking_set(c.state(), c.knobs, c.now, a);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].kind, BlockingKind::hardware);
  EXPECT_EQ(facts[0].text, "training has no 2 nodes with 4 GPUs and 48 CPUs");
}

}  // namespace
}  // namespace hai::test
