// Placement in a fabric of three layers: zone ⊃ pod ⊃ leaf ⊃ node.

#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

// pod-1: leaves of 2 and 2 nodes (1–2, 3–4); pod-2: leaves of 3 and 3 (5–7, 8–10).
Cluster two_training_pods() {
  return cluster(nodes(2, gpus(8)).leaf("pod-1/leaf-1"), nodes(2, gpus(8)).leaf("pod-1/leaf-2"),
                 nodes(3, gpus(8)).leaf("pod-2/leaf-1"), nodes(3, gpus(8)).leaf("pod-2/leaf-2"));
}

std::string place_of(Cluster c, const JobBuilder& builder) {
  c.submit(builder);
  const Plan plan = c.plan();
  return plan.starts.empty() ? "" : to_text(c.state(), plan.starts[0].placement);
}

TEST(Fabric, TheTightestLeafFirst) {
  EXPECT_EQ(place_of(two_training_pods(), job("j").nodes(2)), "node-1,node-2");
}

TEST(Fabric, TheSmallestPodThatHoldsItBeforeTwo) {
  EXPECT_EQ(place_of(two_training_pods(), job("j").nodes(4)), "node-1,node-2,node-3,node-4");
  EXPECT_EQ(place_of(two_training_pods(), job("j").nodes(5)), "node-5,node-6,node-7,node-8,node-9");
}

TEST(Fabric, APodWithFewerFreeNodesIsTighter) {
  Cluster c = two_training_pods();
  c.run(job("a").nodes(2), {"node-5", "node-6"});
  c.run(job("b").nodes(1), {"node-8"});
  EXPECT_EQ(place_of(c, job("j").nodes(3)), "node-7,node-9,node-10");
}

TEST(Fabric, WholePodsFirstThenTheBestFittingRest) {
  EXPECT_EQ(place_of(two_training_pods(), job("j").nodes(7)),
            "node-1,node-5,node-6,node-7,node-8,node-9,node-10");
  EXPECT_EQ(place_of(two_training_pods(), job("j").nodes(8)),
            "node-1,node-2,node-5,node-6,node-7,node-8,node-9,node-10");
}

// docs/contract.md, Scheduling: one leaf if it fits. The pod with fewest free nodes is chosen
// before its leaves are looked at: pod-1 gives two leaves although a leaf of pod-2 holds all three.
TEST(Fabric, OneLeafOfALargerPodBeforeTwoOfATighterOne) {
  EXPECT_EQ(place_of(two_training_pods(), job("j").nodes(3)), "node-5,node-6,node-7");
  EXPECT_EQ(place_of(two_training_pods(), job("j").nodes(3).max_leaves(1)), "node-5,node-6,node-7");
}

TEST(Fabric, RanksStandPodByPodWithNumbersByValue) {
  Cluster c =
      cluster(nodes(1, gpus(8)).leaf("pod-10/leaf-1"), nodes(1, gpus(8)).leaf("pod-2/leaf-10"),
              nodes(1, gpus(8)).leaf("pod-2/leaf-9"), nodes(1, gpus(8)).leaf("pod-1/leaf-11"));
  EXPECT_EQ(place_of(c, job("j").nodes(4)), "node-4,node-3,node-2,node-1");
}

TEST(Fabric, PodsOfOneNameInTwoZonesAreTwo) {
  Cluster c = cluster(nodes(2, gpus(8)).zone("A").leaf("pod-1/leaf-1"),
                      nodes(3, gpus(8)).zone("B").leaf("pod-1/leaf-1"));
  EXPECT_EQ(place_of(c, job("j").nodes(3)), "node-3,node-4,node-5");
  EXPECT_EQ(place_of(c, job("j").nodes(4)), "node-1,node-3,node-4,node-5") << "must cross";
}

TEST(Fabric, UnevenDepthsAreNoProblem) {
  Cluster c = cluster(nodes(2, gpus(8)).leaf("edge"), nodes(2, gpus(8)).leaf("pod-1/leaf-1"),
                      nodes(1, gpus(8)).leaf("pod-1/leaf-2"));
  EXPECT_EQ(place_of(c, job("j").nodes(3)), "node-3,node-4,node-5");
  EXPECT_EQ(place_of(c, job("j").nodes(5)), "node-1,node-2,node-3,node-4,node-5");
}

// docs/contract.md, Scheduling: shares keep whole nodes whole. The same descent: pod-1 has fewer
// nodes that take the share, so a whole node of it is broken although node-9 has a hole of just
// that size.
TEST(Fabric, ASharePacksWhereverTheSmallestHoleIs) {
  Cluster c = two_training_pods();
  c.run(job("share").gpus(4), {"node-9"}, GpuSet::first(4));
  EXPECT_EQ(place_of(c, job("j").gpus(4)), "node-9[4,5,6,7]");
}

// Of more victims than are tried set by set the cheapest nodes are taken wherever they stand: three
// zones, which no placement may use, so that nobody is found at all.
TEST(Fabric, VictimsOfACrossingGangStandInTwoZones) {
  Cluster c = cluster(nodes(3, gpus(8)).zone("A"), nodes(3, gpus(8)).zone("B"),
                      nodes(3, gpus(8)).zone("C"));
  for (int i = 1; i <= 9; ++i) {
    c.run(job(fmt::format("v{}", i)).priority(Priority::low), {fmt::format("node-{}", i)});
  }
  c.advance(1h);
  for (int i : {1, 2, 4, 7}) c.checkpoint(JobId{i}, 0s);
  c.submit(job("j").nodes(4).priority(Priority::high));
  EXPECT_EQ(c.plan().reserves.size(), 1U);
}

}  // namespace
}  // namespace hai::test
