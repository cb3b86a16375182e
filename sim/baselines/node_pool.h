#pragma once
// The free GPUs of all nodes, for planners that know no topology. Follows the state by its changes;
// a pass may take from it and must give back what it took. Nodes are numbered in the order of their
// ids. A share gets an aligned block of 1, 2 or 4 GPUs.

#include <array>
#include <map>
#include <set>
#include <vector>

#include "server/model/cluster_state.h"

namespace hai {

// What a job asks for: whole nodes, or a share of one.
struct NodeDemand {
  int nodes = 1;
  int gpus = 0;  // 0 = whole nodes
  bool is_share() const { return gpus > 0; }
  auto operator<=>(const NodeDemand&) const = default;
};

class NodePool {
 public:
  void update(const ClusterState& state, const Changes& changes);

  int size() const { return static_cast<int>(slots_.size()); }
  int gpus_of_node() const { return gpus_of_node_; }
  // Nodes that take jobs, free or not.
  int usable() const { return usable_; }
  NodeDemand demand_of(const JobSpec& spec) const;

  NodeId id(int slot) const { return slots_[slot].id; }
  int slot_of(NodeId node) const { return index_.at(node); }
  bool is_usable(int slot) const { return slots_[slot].usable; }
  GpuSet free(int slot) const { return slots_[slot].free; }
  GpuSet all(int slot) const { return slots_[slot].all; }
  // Slots that are free as a whole, and those whose largest free block is `gpus` (1, 2 or 4).
  const std::set<int>& whole() const { return by_block_[kWhole]; }
  const std::set<int>& with_block(int gpus) const;

  // An aligned block of `gpus` in `free`; empty if there is none.
  static GpuSet block(GpuSet free, int gpus);
  static int largest_block(GpuSet free);

  void take(const RankPlacement& place) { set_free(place, false); }
  void give(const RankPlacement& place) { set_free(place, true); }

 private:
  static constexpr size_t kWhole = 3;
  struct Slot {
    NodeId id;
    GpuSet all;
    GpuSet free;
    bool usable = false;
    int kind = -1;  // index into by_block_; -1 = nothing free
  };
  void rebuild(const ClusterState& state);
  void look_at(const Node& node);
  void set_free(const RankPlacement& place, bool free);
  void file(int slot);

  std::vector<Slot> slots_;
  std::map<NodeId, int> index_;
  std::array<std::set<int>, 4> by_block_;  // blocks of 1, 2, 4 GPUs, whole nodes
  int usable_ = 0;
  int gpus_of_node_ = 0;
};

}  // namespace hai
