// What the baselines decide in single states.

#include <gmock/gmock.h>

#include <map>

#include "sim/baselines/easy.h"
#include "sim/baselines/hai_open.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Plan pass_of(std::unique_ptr<Planner> planner, const Cluster& c) {
  planner->update(c.state(), {.everything = true});
  return planner->pass(c.state(), c.knobs, c.now);
}

std::vector<std::string> starts(const Cluster& c, const Plan& plan) {
  std::vector<std::string> texts;
  for (const StartItem& item : plan.starts) {
    texts.push_back(c.job(item.job).spec->name + ": " + to_text(c.state(), item.placement));
  }
  return texts;
}

// Run times by job name.
std::unique_ptr<Planner> easy(std::map<std::string, Duration> times) {
  return make_easy_planner([times](const Job& job) { return times.at(job.spec->name); });
}

TEST(HaiOpen, StopsAtTheFirstThatDoesNotFit) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.submit(job("a").nodes(2));
  c.submit(job("large").nodes(2));
  c.submit(job("small").nodes(1));
  Plan plan = pass_of(make_hai_open_planner(1), c);
  ASSERT_EQ(plan.starts.size(), 1u);
  EXPECT_EQ(c.job(plan.starts[0].job).spec->name, "a");
}

TEST(HaiOpen, AGangIsPlacedWholeOnDifferentNodes) {
  Cluster c = cluster(nodes(10, gpus(8)));
  c.submit(job("gang").nodes(7));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Plan plan = pass_of(make_hai_open_planner(seed), c);
    ASSERT_EQ(plan.starts.size(), 1u);
    std::set<NodeId> used;
    for (const RankPlacement& place : plan.starts[0].placement) {
      EXPECT_EQ(place.gpus.count(), 8);
      used.insert(place.node);
    }
    EXPECT_EQ(used.size(), 7u);
  }
}

TEST(HaiOpen, SuspendsWhoFellOutOfThePrefix) {
  Cluster c = cluster(nodes(3, gpus(8)));
  c.run(job("low").priority(Priority::low), {"node-1"});
  c.run(job("middle").priority(Priority::normal), {"node-2"});
  c.submit(job("high").priority(Priority::high).nodes(2));
  Plan plan = pass_of(make_hai_open_planner(1), c);
  EXPECT_THAT(plan.starts, IsEmpty());  // Only one node is free until the other has left.
  ASSERT_EQ(plan.suspends.size(), 1u);
  EXPECT_EQ(c.job(plan.suspends[0].job).spec->name, "low");
}

TEST(HaiOpen, PacksShares) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.run(job("runs").gpus(4), {"node-3"}, GpuSet::first(4));
  c.submit(job("four").gpus(4));
  c.submit(job("whole").nodes(3));
  Plan plan = pass_of(make_hai_open_planner(1), c);
  ASSERT_EQ(plan.starts.size(), 2u);
  EXPECT_EQ(starts(c, plan)[0], "four: node-3[4,5,6,7]");
}

TEST(HaiOpen, NodesThatTakeNoJobsDoNotCount) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.set_scheduling("node-2", Scheduling::cordoned);
  c.submit(job("both").nodes(2));
  c.submit(job("one"));
  EXPECT_THAT(pass_of(make_hai_open_planner(1), c).starts, IsEmpty());
}

TEST(Easy, FirstFitInSubmitOrder) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.submit(job("gang").nodes(2));
  c.submit(job("two").gpus(2));
  c.submit(job("whole"));
  EXPECT_THAT(starts(c, pass_of(easy({{"gang", 1h}, {"two", 1h}, {"whole", 1h}}), c)),
              ElementsAre("gang: node-1,node-2", "two: node-3[0,1]", "whole: node-4"));
}

TEST(Easy, BackfillsWhatEndsBeforeTheHeadCanStart) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("runs"), {"node-1"});
  c.submit(job("head").nodes(2));
  c.submit(job("long"));
  c.submit(job("short"));
  EXPECT_THAT(
      starts(c, pass_of(easy({{"runs", 1h}, {"head", 1h}, {"long", 61min}, {"short", 1h}}), c)),
      ElementsAre("short: node-2"));
}

TEST(Easy, BackfillsBesideTheNodesOfTheHead) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.run(job("runs").nodes(2), {"node-1", "node-2"});
  c.submit(job("head").nodes(3));
  c.submit(job("long"));
  c.submit(job("long2"));
  // At the end of `runs` the head needs one of the two nodes that are free now.
  EXPECT_THAT(
      starts(c, pass_of(easy({{"runs", 1h}, {"head", 1h}, {"long", 9h}, {"long2", 9h}}), c)),
      ElementsAre("long: node-3"));
}

TEST(Easy, AHeadThatWantsAShareKeepsItsNode) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("a").gpus(4), {"node-1"}, GpuSet{0x0f});
  c.run(job("b").gpus(1), {"node-1"}, GpuSet{0x10});
  c.submit(job("head").gpus(4));
  c.submit(job("long").gpus(2));
  c.submit(job("short").gpus(2));
  EXPECT_THAT(
      starts(c, pass_of(easy({{"a", 3h}, {"b", 1h}, {"head", 1h}, {"long", 2h}, {"short", 30min}}),
                        c)),
      ElementsAre("short: node-1[6,7]"));
}

}  // namespace
}  // namespace hai::test
