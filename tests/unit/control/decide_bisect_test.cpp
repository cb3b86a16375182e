// Which of the nodes that failed together is the bad one.

#include "server/control/health/decide_bisect.h"

#include "server/control/health/decide_health.h"
#include "tests/unit/control/health_world.h"

namespace hai::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Answers each group test as if this node broke whatever it takes part in.
void run_bisection(HealthWorld& w, const std::string& bad, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    w.advance(3s);
    const std::vector<JobId> live(w.c.state().live().begin(), w.c.state().live().end());
    for (JobId id : live) {
      const Placement placement = [&] {
        Placement out;
        for (const Rank& rank : w.c.attempt(id).ranks) out.push_back(rank.place);
        return out;
      }();
      bool fails = false;
      for (const RankPlacement& place : placement) {
        fails |= w.c.state().find(place.node)->facts.name == bad;
      }
      for (size_t rank = 0; rank < placement.size(); ++rank) {
        const std::string name = w.c.state().find(placement[rank].node)->facts.name;
        w.report(name, {}, {exited({id, 1, static_cast<int>(rank)}, ExitCause::program, fails)});
      }
    }
  }
}

TEST(Bisection, NamesTheNodeThatFailsWithOthersAndLetsTheOthersGo) {
  HealthWorld w(cluster(nodes(8, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").nodes(8), {"node-1", "node-2", "node-3", "node-4",
                                                           "node-5", "node-6", "node-7", "node-8"});
  std::vector<NodeId> all;
  for (const auto& [id, node] : w.c.state().nodes()) all.push_back(id);
  w.c.decide_with([&](Decision& decision) { begin_bisection(decision, all, "they hung"); });
  w.advance(5s);
  EXPECT_EQ(w.c.state().live().size(), 1u) << "it begins when they are empty";
  w.c.finish(job);
  run_bisection(w, "node-6", 1);
  EXPECT_EQ(w.node("node-6").scheduling, Scheduling::cordoned);
  run_bisection(w, "node-6", 10);
  for (int i = 1; i <= 8; ++i) {
    const std::string name = fmt::format("node-{}", i);
    EXPECT_EQ(w.node(name).scheduling, i == 6 ? Scheduling::drained : Scheduling::open) << name;
  }
  EXPECT_EQ(w.repair("node-6").step, RepairStep::service);
  EXPECT_THAT(w.marks("node-6"), Contains("validation_failed bisection"));
  EXPECT_THAT(w.incidents(kBisection), IsEmpty());
  EXPECT_THAT(w.incidents(kNodeFault), ElementsAre("node/node-6"));
}

TEST(Bisection, ANewLeaderBeginsAnew) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  ASSERT_TRUE(w.c.decide(BisectNodes{{"node-1", "node-2", "node-3", "node-4"}}).is_ok());
  run_bisection(w, "node-2", 1);
  w.sessions.bisections.clear();
  run_bisection(w, "node-2", 10);
  EXPECT_EQ(w.repair("node-2").step, RepairStep::service);
  for (const std::string name : {"node-1", "node-3", "node-4"}) {
    EXPECT_EQ(w.node(name).scheduling, Scheduling::open) << name;
  }
}

// Of four nodes with a job that hung; node-4 does not become ready.
TEST(Bisection, DoesNotWaitForANodeThatIsDown) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").nodes(4), {"node-1", "node-2", "node-3", "node-4"});
  ASSERT_TRUE(w.c.decide(BisectNodes{{"node-1", "node-2", "node-3", "node-4"}}).is_ok());
  w.advance(1s);
  w.c.decide_with([](Decision& decision) { decide_node_down(decision, NodeId{4}, "silent"); });
  w.c.finish(job);
  run_bisection(w, "node-2", 10);
  EXPECT_EQ(w.repair("node-2").step, RepairStep::service);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
  EXPECT_EQ(w.node("node-3").scheduling, Scheduling::open);
  EXPECT_THAT(w.incidents(kBisection), IsEmpty());
  EXPECT_EQ(w.repair("node-4").step, RepairStep::emptying);
  EXPECT_EQ(w.node("node-4").scheduling, Scheduling::cordoned);

  w.report("node-4", {});  // it is back
  w.advance(3s);
  EXPECT_EQ(w.repair("node-4").step, RepairStep::validating);
  w.validation_ends("node-4", 0);
  w.advance(3s);
  EXPECT_EQ(w.node("node-4").scheduling, Scheduling::open);
}

TEST(Bisection, OfTwoOneOfWhichIsDownTheOtherIsTestedAlone) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  ASSERT_TRUE(w.c.decide(BisectNodes{{"node-1", "node-2"}}).is_ok());
  w.c.set_liveness("node-2", Liveness::down);
  w.advance(3s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::validating);
  EXPECT_EQ(w.repair("node-2").step, RepairStep::emptying);
  EXPECT_THAT(w.incidents(kBisection), IsEmpty());
  w.validation_ends("node-1", 0);
  w.advance(3s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
}

TEST(Bisection, WaitsForOthersJobsNoLongerThanATestMayTake) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  w.c.knobs.validation_timeout = 5min;
  const JobId gang = w.c.run(hai::test::job("j").nodes(4).gpus(4),
                             {"node-1", "node-2", "node-3", "node-4"}, GpuSet::first(4));
  const JobId share = w.c.run(hai::test::job("days").gpus(4), {"node-4"}, GpuSet{0xf0});
  ASSERT_TRUE(w.c.decide(BisectNodes{{"node-1", "node-2", "node-3", "node-4"}}).is_ok());
  w.advance(10min);
  EXPECT_EQ(w.repair("node-4").step, RepairStep::bisecting) << "nobody idles for it";
  w.c.finish(gang);
  w.advance(4min);
  w.sessions.bisections.clear();
  w.advance(4min);
  EXPECT_EQ(w.repair("node-4").step, RepairStep::bisecting) << "a new leader counts anew";
  EXPECT_EQ(w.c.state().live().size(), 1u);
  w.advance(1min + 5s);
  EXPECT_EQ(w.repair("node-4").step, RepairStep::emptying) << "validated when its job has ended";
  EXPECT_EQ(w.c.state().live().size(), 2u) << "a pair of the three is tested";
  w.c.finish(share);
  w.advance(3s);
  EXPECT_EQ(w.repair("node-4").step, RepairStep::validating);
}

TEST(Bisection, IsForOperatorsAndForNodesThatTakeJobs) {
  HealthWorld w(cluster(nodes(3, gpus(8))));
  w.c.add_user("bob");
  EXPECT_EQ(w.c.decide(BisectNodes{{"node-1", "node-2"}}, "bob").status().code(),
            Code::permission_denied);
  EXPECT_EQ(w.c.decide(BisectNodes{{"node-1"}}).status().code(), Code::invalid_argument);
  EXPECT_EQ(w.c.decide(BisectNodes{{"node-1", "node-9"}}).status().code(), Code::not_found);
  ASSERT_TRUE(w.c.decide(CordonNode{"node-2", "mine"}).is_ok());
  EXPECT_EQ(w.c.decide(BisectNodes{{"node-1", "node-2"}}).status().code(),
            Code::failed_precondition);
}

}  // namespace
}  // namespace hai::test
