// Who has to leave.

#include "server/plan/preempt.h"

#include "server/plan/cost.h"
#include "server/plan/time_sharing.h"
#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Preempt, OnlyLowerLevels) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(job("higher").priority(Priority::very_high), {"node-1"});
  c.run(job("same").priority(Priority::high), {"node-2"});
  c.run(job("lower").priority(Priority::above_normal), {"node-3"});
  c.submit(high("j"));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-3 <- lower"));
}

// A person sits in it.
TEST(Preempt, NobodyIsGivenTheNodesOfAnInteractiveJob) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("box").interactive(), {"node-1"});
  c.run(job("normal"), {"node-2"});
  c.submit(job("j").priority(Priority::extreme_high));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-2 <- normal"));
}

TEST(Preempt, AnInteractiveJobStaysWhateverItsLevelAndHoweverLongOthersWait) {
  for (const Priority level : {Priority::low, Priority::extreme_high}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    c.add_user("bob");
    c.run(job("box").priority(level).interactive().user("bob"), {"node-1"});
    c.advance(100h);
    c.submit(job("j").priority(Priority::extreme_high));
    c.advance(100h);
    EXPECT_THAT(reserves(c, c.plan()), IsEmpty()) << to_string(level);
  }
}

TEST(Preempt, AnInteractiveJobThatLeavesAnywayIsNoObstacle) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId box = c.run(low("box").interactive(), {"node-1"});
  ASSERT_TRUE(c.decide(SuspendJob{std::to_string(box.value), ""}).is_ok());
  c.submit(high("j"));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-1 <- box"));
}

TEST(Preempt, CountsTheLevelItRunsAtNotTheOneAsked) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(low("j"), {"node-1"});
  c.emit(JobPriorityChanged{id, Priority::extreme_high});
  c.submit(high("h"));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("h: node-1 <- j"));
}

TEST(Preempt, TheCheapestLostWork) {
  Cluster c = cluster(nodes(3, gpus(8)));
  for (int i = 1; i <= 3; ++i) c.run(low(fmt::format("v{}", i)), {fmt::format("node-{}", i)});
  c.advance(1h);
  c.checkpoint(JobId{1}, 20min);
  c.checkpoint(JobId{2}, 1min);
  c.checkpoint(JobId{3}, 10min);
  c.submit(high("j"));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-2 <- v2"));
}

// A leader that has just begun knew of one node only, and suspended a job of it for one that fitted
// on the free nodes that came back a second later.
TEST(Preempt, NobodyWhileNodesAreStillComingBackToANewLeader) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("a"), {"node-1"});
  c.emit(EpochStarted{Epoch{c.state().epoch().value + 1}});
  c.emit(NodeLivenessChanged{NodeId{1}, Liveness::up, ""});
  c.submit(high("j"));
  EXPECT_THAT(reserves(c, c.plan()), IsEmpty());
  EXPECT_THAT(starts(c, c.plan()), IsEmpty());
  c.emit(NodeLivenessChanged{NodeId{2}, Liveness::up, ""});
  EXPECT_THAT(starts(c, c.plan()), ElementsAre("j: node-2"));
}

TEST(Preempt, ANodeThatStaysAwayFromANewLeaderIsWaitedForOnlySoLong) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("a"), {"node-1"});
  c.emit(EpochStarted{Epoch{c.state().epoch().value + 1}});
  c.emit(NodeLivenessChanged{NodeId{1}, Liveness::up, ""});
  c.submit(high("j"));
  c.advance(20s);
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-1 <- a"));
}

TEST(Preempt, FreeNodesFirst) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.run(low("a"), {"node-1"});
  c.run(low("b"), {"node-2"});
  c.submit(high("j").nodes(3));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-1,node-3,node-4 <- a"));
}

TEST(Preempt, NeverMoreThanNeeded) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.run(low("one"), {"node-1"});
  c.run(low("gang").nodes(2), {"node-2", "node-3"});
  c.run(low("other"), {"node-4"});
  c.advance(1h).checkpoint(JobId{1}, 1min);
  c.checkpoint(JobId{3}, 2min);
  c.submit(high("j").nodes(2));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-1,node-4 <- one,other"));
}

// So many that not every set can be tried: the cheapest single is taken first, then the gang, which
// suffices alone.
TEST(Preempt, NeverMoreThanNeededAmongMany) {
  Cluster c = cluster(nodes(12, gpus(8)));
  std::vector<JobId> dear;
  const JobId cheap = c.run(low("cheap"), {"node-1"});
  for (int i = 2; i <= 9; ++i) {
    dear.push_back(c.run(low(fmt::format("dear{}", i)), {fmt::format("node-{}", i)}));
  }
  const JobId gang = c.run(low("gang").nodes(3), {"node-10", "node-11", "node-12"});
  c.advance(20h);
  c.checkpoint(cheap, 1min);
  for (JobId id : dear) c.checkpoint(id, 10h);
  c.checkpoint(gang, 2min);
  c.submit(high("j").nodes(3));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-10,node-11,node-12 <- gang"));
}

TEST(Preempt, AGangThatIsCheaperThanItsPartsLookBeatsSingles) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.run(low("gang").nodes(2), {"node-1", "node-2"});
  c.run(low("a"), {"node-3"});
  c.run(low("b"), {"node-4"});
  c.advance(1h).checkpoint(JobId{1}, 5min);
  c.checkpoint(JobId{2}, 6min);
  c.checkpoint(JobId{3}, 6min);
  c.submit(high("j").nodes(2));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-1,node-2 <- gang"));
}

TEST(Preempt, AGangLeavesAsAWhole) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(low("gang").nodes(3), {"node-1", "node-2", "node-3"});
  c.submit(high("j"));
  EXPECT_THAT(reserves(c, c.pass()), ElementsAre("j: node-1 <- gang"));
  EXPECT_EQ(c.attempt(JobId{1}).state, AttemptState::suspending);
  EXPECT_EQ(c.attempt(JobId{1}).suspended_for, JobId{2});
  EXPECT_EQ(c.attempt(JobId{1}).suspend_deadline, c.now + 60s);
}

TEST(Preempt, SharesThatTogetherMakeANodeWhole) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("a").gpus(4), {"node-1"}, GpuSet::first(4));
  c.run(low("b").gpus(2), {"node-1"}, GpuSet{0b0011'0000});
  c.run(low("c").gpus(4), {"node-2"}, GpuSet::first(4));
  c.run(job("stays").gpus(4).priority(Priority::very_high), {"node-2"}, GpuSet{0xf0});
  c.submit(high("j"));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-1 <- a,b"));
}

TEST(Preempt, AShareSuspendsOnlyWhoIsInItsWay) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(low("a").gpus(4), {"node-1"}, GpuSet::first(4));
  c.run(low("b").gpus(4), {"node-1"}, GpuSet{0xf0});
  c.advance(1h).checkpoint(JobId{2}, 0s);
  c.checkpoint(JobId{1}, 30min);
  c.submit(high("j").gpus(2));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-1[4,5] <- b"));
}

TEST(Preempt, NobodyIfItWouldNotHelp) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(low("a"), {"node-1"});
  c.run(low("b"), {"node-2"});
  c.run(job("top").priority(Priority::extreme_high), {"node-3"});
  c.submit(high("j").nodes(3));
  EXPECT_THAT(c.plan().reserves, IsEmpty());
}

TEST(Preempt, NobodyOnNodesThatTakeNoJobs) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("a"), {"node-1"});
  c.run(low("b"), {"node-2"});
  c.set_liveness("node-1", Liveness::suspect).set_scheduling("node-2", Scheduling::cordoned);
  c.submit(high("j"));
  EXPECT_THAT(c.plan().reserves, IsEmpty());
}

TEST(Preempt, WithinOneZone) {
  Cluster c = cluster(nodes(2, gpus(8)).zone("A"), nodes(2, gpus(8)).zone("B"));
  c.run(low("a1"), {"node-1"});
  c.run(low("a2"), {"node-2"});
  c.run(low("b1"), {"node-3"});
  c.run(low("b2"), {"node-4"});
  c.advance(1h);
  c.checkpoint(JobId{1}, 1min);
  c.checkpoint(JobId{2}, 10min);
  c.checkpoint(JobId{3}, 2min);
  c.checkpoint(JobId{4}, 4min);
  c.submit(high("j").nodes(2));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-3,node-4 <- b1,b2"));
}

// The only two zones that hold the gang together are not neighbours in the order of their names.
TEST(Preempt, WithinAnyTwoZonesForAGangThatNoZoneHolds) {
  Cluster c = cluster(nodes(4, gpus(8)).zone("A"), nodes(1, gpus(8)).zone("B"),
                      nodes(2, gpus(8)).zone("C"));
  c.run(low("a").nodes(4), {"node-1", "node-2", "node-3", "node-4"});
  c.run(job("top").priority(Priority::extreme_high), {"node-5"});
  c.run(low("c").nodes(2), {"node-6", "node-7"});
  c.submit(high("j").nodes(6));
  EXPECT_THAT(reserves(c, c.plan()),
              ElementsAre("j: node-1,node-2,node-3,node-4,node-6,node-7 <- a,c"));
}

TEST(Preempt, AvoidedNodesAreFreedLast) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id = c.place(high("j"), {"node-1"});
  c.emit(AttemptEnding{id, 1, {AttemptState::lost, 0, "test", true}});
  c.emit(RankEnded{id, 1, 0, RankState::lost, ExitCause::lost, 0, ""});
  c.emit(AttemptEnded{id, 1, AttemptState::lost, "test", 0, {NodeId{1}}});
  c.run(low("a"), {"node-1"});
  c.run(low("b"), {"node-2"});
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-2 <- b"));
}

TEST(Preempt, WhoLeavesAnywayCostsNothing) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("a"), {"node-1"});
  c.run(high("b"), {"node-2"});
  c.advance(1h).checkpoint(JobId{1}, 0s);
  c.emit(AttemptSuspending{JobId{2}, 1, c.now + 60s, {}, "its user asked"});
  c.submit(high("j"));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j: node-2 <- b"));
}

TEST(Preempt, WhoLeavesForAnEqualIsNoLegalVictim) {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId normal = c.run(job("normal").nodes(2), {"node-1", "node-2"});
  JobId first = c.submit(high("first"));
  c.pass();
  ASSERT_EQ(c.attempt(normal).suspended_for, first);
  c.submit(low("low"));
  EXPECT_THAT(c.plan().reserves, IsEmpty()) << "normal goes on if first goes away";
}

TEST(Preempt, TwoReservationsShareNoGpuButMayShareAVictimThatLeaves) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(low("gang").nodes(2), {"node-1", "node-2"});
  c.run(low("single"), {"node-3"});
  c.advance(1h).checkpoint(JobId{1}, 0s);
  c.submit(high("j1"));
  c.submit(high("j2"));
  EXPECT_THAT(reserves(c, c.pass()), ElementsAre("j1: node-1 <- gang", "j2: node-2 <- gang"))
      << "single can go on: gang leaves two nodes";
  EXPECT_EQ(c.attempt(JobId{2}).state, AttemptState::running);
}

TEST(Preempt, TwoReservationsTakeDifferentVictims) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(low("a"), {"node-1"});
  c.run(low("b"), {"node-2"});
  c.submit(high("j1"));
  c.submit(high("j2"));
  EXPECT_THAT(reserves(c, c.plan()), ElementsAre("j1: node-1 <- a", "j2: node-2 <- b"));
}

TEST(Preempt, IsNotRepeatedWhileAReservationStands) {
  Cluster c = cluster(nodes(3, gpus(8)));
  for (int i = 1; i <= 3; ++i) c.run(low(fmt::format("v{}", i)), {fmt::format("node-{}", i)});
  c.submit(high("j"));
  c.pass();
  Plan again = c.plan();
  EXPECT_THAT(again.reserves, IsEmpty());
  EXPECT_THAT(again.continues, IsEmpty());
  EXPECT_THAT(again.drops, IsEmpty());
}

TEST(Preempt, CostsWhatItsVictimsLose) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const JobId cheap = c.run(low("cheap"), {"node-1"});
  const JobId dear = c.run(low("dear"), {"node-2"});
  const JobId id = c.submit(high("j"));
  c.advance(1h).checkpoint(cheap, 1min);
  c.checkpoint(dear, 10min);
  TimeSharingPlanner planner(VictimChoice::least_lost_work);
  PlanIndex& index = planner.index_at(c.state(), c.knobs, c.now);
  OpenLists open(index.running, c.knobs, c.now);
  const PreemptContext context{index.capacity, index.running, open, index.ledger, c.knobs, c.now};
  const Demand demand = demand_of(index.capacity, c.job(id), c.knobs, c.now);
  const auto found = preempt(context, demand, {&c.job(id), Priority::high});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->victims, ElementsAre(cheap));
  EXPECT_EQ(found->cost, suspend_cost(c.job(cheap), c.knobs, c.now));
}

// Searches are dear: a pass makes so many, and the next one goes on at once.
TEST(Preempt, ForVeryManyTakesMoreThanOnePass) {
  constexpr size_t kJobs = 140;
  Cluster c = cluster(nodes(kJobs, gpus(8)));
  for (size_t i = 1; i <= kJobs; ++i) {
    c.run(low(fmt::format("v{}", i)), {fmt::format("node-{}", i)});
  }
  for (size_t i = 1; i <= kJobs; ++i) c.submit(high(fmt::format("j{}", i)));
  const Plan first = c.pass();
  EXPECT_TRUE(first.is_partial);
  EXPECT_LT(first.reserves.size(), kJobs);
  const Plan second = c.pass();
  EXPECT_FALSE(second.is_partial);
  EXPECT_EQ(first.reserves.size() + second.reserves.size(), kJobs);
}

// No two of these nodes are of one leaf, so that each of her searches fails.
TEST(Preempt, ThatFailsForOneUserManyTimesIsTriedForOthers) {
  constexpr int kNodes = 140;
  std::vector<NodesBuilder> leaves;
  for (int i = 1; i <= kNodes; ++i) {
    leaves.push_back(nodes(1, gpus(8)).leaf(fmt::format("leaf-{}", i)));
  }
  Cluster c(leaves);
  for (int i = 1; i <= kNodes; ++i) {
    c.run(low(fmt::format("v{}", i)), {fmt::format("node-{}", i)});
  }
  for (int i = 2; i <= kNodes; ++i) c.submit(high(fmt::format("g{}", i)).nodes(i).max_leaves(1));
  c.submit(high("other").user("bob"));
  const Plan plan = c.pass();
  ASSERT_EQ(plan.reserves.size(), 1U);
  EXPECT_EQ(c.job(plan.reserves[0].job).user, "bob");
}

}  // namespace
}  // namespace hai::test
