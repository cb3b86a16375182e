// How well those who run are protected, and what a demand has to overcome at least.

#include "server/plan/victims.h"

#include <gtest/gtest.h>

#include "server/plan/time_sharing.h"
#include "tests/unit/plan/usage.h"

namespace hai::test {
namespace {

class Victims : public ::testing::Test {
 protected:
  const PlanIndex& index() {
    planner_ = std::make_unique<TimeSharingPlanner>(VictimChoice::least_lost_work);
    return planner_->index_at(c.state(), c.knobs, c.now);
  }
  Running of(JobId id) { return *index().running.find(id); }
  int needed(int nodes, int gpus = 0) {
    const PlanIndex& now = index();
    return now.running.needed_reach(now.capacity,
                                    {.group = "training", .nodes = nodes, .gpus = gpus});
  }
  static int reach(Priority level, int feedback_class = 0, bool takes_turns = true) {
    return VictimIndex::reach(
        {.level = level, .feedback_class = feedback_class, .takes_turns = takes_turns});
  }

  Cluster c = cluster(nodes(4, gpus(8)));

 private:
  std::unique_ptr<TimeSharingPlanner> planner_;
};

TEST_F(Victims, HigherLevelsReachAllLowerOnes) {
  const JobId low = c.run(job("low").priority(Priority::low), {"node-1"});
  const JobId normal = c.run(job("normal"), {"node-2"});
  EXPECT_LE(of(low).protection, reach(Priority::below_normal, kClassMax, false));
  EXPECT_GT(of(normal).protection, reach(Priority::under_normal, kClassMin));
  EXPECT_LE(of(normal).protection, reach(Priority::above_normal, kClassMax, false));
}

TEST_F(Victims, TheirOwnLevelReachesThemAfterTheirQuantumIfItsClassIsNoWorse) {
  const JobId id = c.run(job("j"), {"node-1"});
  c.advance(30min - 1us);
  EXPECT_FALSE(of(id).is_past_quantum);
  EXPECT_GT(of(id).protection, reach(Priority::normal, kClassMin));
  c.advance(1us);
  EXPECT_TRUE(of(id).is_past_quantum);
  EXPECT_EQ(of(id).feedback_class, 3) << "4 GPU hours";
  EXPECT_LE(of(id).protection, reach(Priority::normal, 3));
  EXPECT_GT(of(id).protection, reach(Priority::normal, 4));
  EXPECT_GT(of(id).protection, reach(Priority::normal, 3, false)) << "only when turns are taken";
}

TEST_F(Victims, UnderFifoTheirOwnLevelReachesJumpersOnly) {
  c.knobs.policy = Policy::fifo;
  const JobId old = c.run(job("old"), {"node-1"});
  const JobId jumper = c.submit(job("jumper"));
  c.emit(AttemptPlaced{jumper, 1, c.on({"node-2"}), Priority::normal, 1, true, true});
  c.advance(100h);
  EXPECT_GT(of(old).protection, reach(Priority::normal));
  EXPECT_LE(of(jumper).protection, reach(Priority::normal));
}

TEST_F(Victims, WhoLeavesAnywayIsNotProtected) {
  const JobId id = c.run(job("j").priority(Priority::extreme_high), {"node-1"});
  c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "its user asked"});
  EXPECT_TRUE(of(id).is_leaving);
  EXPECT_EQ(of(id).protection, 0);
}

TEST_F(Victims, WhoLeavesForAnotherKeepsItsProtection) {
  const JobId id = c.run(job("j"), {"node-1"});
  const JobId other = c.submit(job("other").priority(Priority::high));
  const int before = of(id).protection;
  c.emit(AttemptSuspending{id, 1, c.now + 60s, other, "makes room"});
  EXPECT_FALSE(of(id).is_leaving);
  EXPECT_EQ(of(id).protection, before);
}

TEST_F(Victims, NothingIsToOvercomeWhereThereIsRoom) {
  c.run(job("j"), {"node-1"});
  EXPECT_EQ(needed(3), -1);
  EXPECT_GT(needed(4), -1);
}

TEST_F(Victims, TheNeededReachIsThatOfTheWorstNodeThatMustBeHad) {
  c.run(job("low").priority(Priority::low), {"node-1"});
  c.run(job("normal"), {"node-2"});
  c.run(job("high").priority(Priority::high), {"node-3"});
  EXPECT_EQ(needed(1), -1);
  EXPECT_LE(needed(2), reach(Priority::below_normal, 0, false));
  EXPECT_GT(needed(3), reach(Priority::below_normal, 0, false));
  EXPECT_LE(needed(3), reach(Priority::above_normal, 0, false));
  EXPECT_GT(needed(4), reach(Priority::above_normal, kClassMin));
  EXPECT_EQ(needed(5), VictimIndex::kUnreachable);
}

TEST_F(Victims, TheBestBlockOfANodeCounts) {
  for (int node = 1; node <= 4; ++node) {
    const std::string name = fmt::format("node-{}", node);
    c.run(job("high" + name).gpus(4).priority(Priority::high), {name}, GpuSet::first(4));
    c.run(job("low" + name).gpus(4).priority(Priority::low), {name}, GpuSet{0xf0});
  }
  EXPECT_LE(needed(4, 4), reach(Priority::below_normal, 0, false));
  EXPECT_GT(needed(1, 0), reach(Priority::above_normal, kClassMin)) << "a whole node needs both";
}

TEST_F(Victims, HeldAndClosedNodesAreOutOfReach) {
  c.run(job("low").priority(Priority::low), {"node-1"});
  const JobId waits = c.submit(job("waits").priority(Priority::high));
  c.emit(NodesReserved{waits, {c.on({"node-1"}), Priority::high, {JobId{1}}, c.now}});
  c.set_scheduling("node-2", Scheduling::cordoned);
  c.set_liveness("node-3", Liveness::suspect);
  EXPECT_EQ(needed(1), -1);
  EXPECT_EQ(needed(2), VictimIndex::kUnreachable);
}

TEST_F(Victims, SeesThoseThatAreOpenCheapestFirst) {
  for (int i = 1; i <= 3; ++i) c.run(job(fmt::format("v{}", i)), {fmt::format("node-{}", i)});
  c.advance(1h).checkpoint(JobId{1}, 9min);
  c.checkpoint(JobId{2}, 5min);
  c.checkpoint(JobId{3}, 1min);
  c.run(job("new"), {"node-4"});
  std::vector<int64_t> ids;
  for (const OpenVictim& victim : index().running.open_of(Priority::normal, c.knobs, c.now)) {
    ids.push_back(victim.running->id.value);
  }
  EXPECT_EQ(ids, (std::vector<int64_t>{3, 2, 1})) << "new is protected by its quantum";
}

}  // namespace
}  // namespace hai::test
