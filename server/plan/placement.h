#pragma once
// Where a gang goes: the smallest part of the network that holds it, best fit, small jobs where
// they leave whole nodes whole (docs/contract.md, Scheduling: Network). A free-capacity question
// only; who may be moved away is preempt.h's.

#include <optional>
#include <string>
#include <vector>

#include "server/plan/capacity.h"

namespace hai {

struct Demand {
  std::string group;
  std::string zone;  // "" = any
  int nodes = 1;
  int gpus = 0;  // per node; 0 = the whole node, kNoGpus
  bool may_cross_zones = false;
  int max_leaves = 0;                             // 0 = no limit
  std::vector<NodeId> avoid;                      // used only if there is no other way
  HostAsk ask;                                    // per node
  std::shared_ptr<const NodeFilter> filter = {};  // null = any node of the group

  RankSize size() const { return {gpus, ask, filter}; }
  bool asks_gpus() const { return gpus != kNoGpus; }
};

// The GPUs a demand would get on a node with these free: the whole node, or the aligned block that
// breaks the smallest larger hole.
struct Fit {
  GpuSet gpus;
  int hole = 0;  // size of the free block they are broken out of; without GPUs, how many are free
  bool fits = false;
};
// With CPUs and memory. A rank without GPUs goes where it leaves most GPUs alone.
Fit best_fit(const Slot& slot, const RankSize& size);
// GPUs alone; `gpus` is not kNoGpus.
Fit best_fit(const Node& node, GpuSet free, int gpus);
inline GpuSet fit(const Node& node, GpuSet free, int gpus) {
  return best_fit(node, free, gpus).gpus;
}

// All `demand.nodes` ranks in network order, or nothing.
std::optional<Placement> place(const Capacity& capacity, const Demand& demand);

// Whether enough nodes take a rank, leaves aside: what place() needs at least. Cheap.
bool has_enough_nodes(const Capacity& capacity, const Demand& demand);

// Domains of the demand's group that it may use: the zones' indexes.
std::vector<int> zones_of(const Capacity& capacity, const Demand& demand);

// Whether ranks stand in more than one zone. Ranks are numbered zone by zone, so first and last
// tell.
bool crosses_zones(const ClusterState& state, NodeId first_rank, NodeId last_rank);

}  // namespace hai
