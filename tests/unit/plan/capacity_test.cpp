// The tree of free GPUs: how it is cut, how it counts, and that trying leaves no trace.

#include "server/plan/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "common/rng.h"
#include "server/plan/placement.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;

constexpr std::array kSizes = {0, 1, 2, 4, 8};

// By part of the tree and size of rank, counted one node after the other.
std::map<std::pair<int, int>, int> recount(const Capacity& capacity) {
  std::map<std::pair<int, int>, int> counts;
  for (int domain = 0; domain < static_cast<int>(capacity.domains().size()); ++domain) {
    const Domain& part = capacity.domains()[domain];
    for (int gpus : kSizes) {
      int& count = counts[{domain, gpus}];
      for (int slot = part.first_slot; slot < part.end_slot; ++slot) {
        count += !fit(*capacity.slots()[slot].node, capacity.slots()[slot].free, gpus).is_empty();
      }
    }
  }
  return counts;
}

std::map<std::pair<int, int>, int> counted(const Capacity& capacity) {
  std::map<std::pair<int, int>, int> counts;
  for (int domain = 0; domain < static_cast<int>(capacity.domains().size()); ++domain) {
    for (int gpus : kSizes) counts[{domain, gpus}] = capacity.fit_count(domain, gpus);
  }
  return counts;
}

std::vector<std::pair<GpuSet, GpuSet>> free_and_held(const Capacity& capacity) {
  std::vector<std::pair<GpuSet, GpuSet>> all;
  for (const Slot& slot : capacity.slots()) all.emplace_back(slot.free, slot.held);
  return all;
}

Cluster two_pods() {
  return cluster(nodes(2, gpus(8)).leaf("pod-1/leaf-1"), nodes(2, gpus(8)).leaf("pod-1/leaf-2"),
                 nodes(3, gpus(8)).leaf("pod-2/leaf-1"), nodes(2, gpus(4)).group("dev"));
}

std::vector<std::string> parts_of(const Capacity& capacity, const Domain& of) {
  std::vector<std::string> names;
  for (int child = of.first_child; child < of.end_child; ++child) {
    const Domain& part = capacity.domains()[child];
    names.push_back(fmt::format("{}: {}", part.name, part.end_slot - part.first_slot));
  }
  return names;
}

TEST(CapacityTree, IsCutByTheLevelsOfTheLeavesNames) {
  const Cluster c = two_pods();
  const Capacity capacity(c.state());
  const NodeGroup& group = *capacity.group("training");
  ASSERT_EQ(group.end_zone - group.first_zone, 1);
  const Domain& zone = capacity.domains()[group.first_zone];
  EXPECT_THAT(parts_of(capacity, zone), ElementsAre("pod-1: 4", "pod-2: 3"));
  const Domain& pod_1 = capacity.domains()[zone.first_child];
  EXPECT_THAT(parts_of(capacity, pod_1), ElementsAre("leaf-1: 2", "leaf-2: 2"));
  for (const Slot& slot : capacity.slots()) EXPECT_TRUE(capacity.domains()[slot.leaf].is_leaf());
}

TEST(CapacityTree, GroupsAreTreesOfTheirOwn) {
  const Cluster c = two_pods();
  const Capacity capacity(c.state());
  const NodeGroup& dev = *capacity.group("dev");
  EXPECT_EQ(dev.end_slot - dev.first_slot, 2);
  EXPECT_EQ(dev.gpus, 4);
  EXPECT_EQ(capacity.group("nowhere"), nullptr);
}

TEST(CapacityTree, CountsWholeNodesAndShares) {
  Cluster c = two_pods();
  c.run(job("share").gpus(4), {"node-1"}, GpuSet::first(4));
  const Capacity capacity(c.state());
  const int zone = capacity.group("training")->first_zone;
  EXPECT_EQ(capacity.fit_count(zone, 0), 6);
  EXPECT_EQ(capacity.fit_count(zone, 4), 7);
  EXPECT_EQ(capacity.hardware_in_largest_zone(*capacity.group("training"), 0, ""), 7);
  EXPECT_EQ(capacity.least_used(*capacity.group("training"), 7), 4);
  EXPECT_EQ(capacity.least_used(*capacity.group("training"), 6), 0);
}

TEST(CapacityTree, NodesThatTakeNoJobsAreNeitherFreeNorUsed) {
  Cluster c = two_pods();
  c.run(job("j"), {"node-1"});
  c.set_scheduling("node-1", Scheduling::cordoned).set_liveness("node-2", Liveness::suspect);
  const Capacity capacity(c.state());
  EXPECT_EQ(capacity.fit_count(capacity.group("training")->first_zone, 0), 5);
  EXPECT_EQ(capacity.least_used(*capacity.group("training"), 7), 0);
}

TEST(CapacityChanges, ARunThatIsGivenUpIsFreeUnlessHeld) {
  Cluster c = two_pods();
  c.run(job("j"), {"node-1"});
  Capacity capacity(c.state());
  const Placement node_1 = c.on({"node-1"});
  const Slot& slot = capacity.slots()[capacity.index_of(c.node_id("node-1"))];
  capacity.hold(node_1);
  capacity.give(c.node_id("node-1"), GpuSet::first(8));
  EXPECT_TRUE(slot.free.is_empty()) << "it is promised";
  capacity.undo_to(0);
  capacity.give(c.node_id("node-1"), GpuSet::first(8));
  EXPECT_EQ(slot.free, GpuSet::first(8));
  capacity.ungive(c.node_id("node-1"), GpuSet::first(8));
  EXPECT_TRUE(slot.free.is_empty());
}

TEST(CapacityChanges, WhatIsHeldNoMoreIsFreeOnlyIfNobodyUsesIt) {
  Cluster c = two_pods();
  c.run(job("share").gpus(4), {"node-1"}, GpuSet::first(4));
  Capacity capacity(c.state());
  const Slot& slot = capacity.slots()[capacity.index_of(c.node_id("node-1"))];
  capacity.hold(c.on({"node-1"}));
  EXPECT_TRUE(slot.free.is_empty());
  capacity.unhold(c.on({"node-1"}));
  EXPECT_EQ(slot.free, GpuSet{0xf0});
  EXPECT_TRUE(slot.held.is_empty());
}

// Random tries: counts are right after each, and undoing brings back everything.
TEST(CapacityChanges, CountAndUndoWhateverIsTried) {
  Cluster c = two_pods();
  c.run(job("gang").nodes(2), {"node-1", "node-2"});
  c.run(job("share").gpus(2), {"node-3"}, GpuSet::first(2));
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    Capacity capacity(c.state());
    const auto before = free_and_held(capacity);
    const auto counts_before = recount(capacity);
    for (int step = 0; step < 8; ++step) {
      const NodeId node{rng.between(1, 7)};
      const int size = 1 << rng.below(4);
      const int first = static_cast<int>(rng.below(8 / size)) * size;
      const GpuSet gpus{GpuSet::first(size).bits << first};
      switch (rng.below(5)) {
        case 0:
          capacity.take({{node, gpus}});
          break;
        case 1:
          capacity.hold({{node, gpus}});
          break;
        case 2:
          capacity.unhold({{node, gpus}});
          break;
        case 3:
          capacity.give(node, gpus);
          break;
        default:
          capacity.ungive(node, gpus);
      }
      ASSERT_EQ(counted(capacity), recount(capacity)) << "round " << round;
      for (const Slot& slot : capacity.slots()) ASSERT_TRUE((slot.free & slot.held).is_empty());
    }
    std::vector<int> touched;
    capacity.undo_to(0, &touched);
    ASSERT_EQ(free_and_held(capacity), before) << "round " << round;
    ASSERT_EQ(counted(capacity), counts_before);
    const Capacity fresh(c.state());
    for (const NodeGroup& group : capacity.groups()) {
      EXPECT_EQ(group.used, fresh.group(group.gpus == 4 ? "dev" : "training")->used);
    }
  }
}

}  // namespace
}  // namespace hai::test
