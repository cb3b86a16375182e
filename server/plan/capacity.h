#pragma once
// The GPUs a planning pass may still give away: a tentative copy that stages take from and can roll
// back by copying. Slots are in network order (zone, leaf, node), so that ranks numbered by slot
// keep rings local. A GPU is never free and held at once.

#include <map>
#include <string>
#include <vector>

#include "server/model/cluster_state.h"

namespace hai {

struct Slot {
  const Node* node = nullptr;
  GpuSet free;          // neither used nor held, and the node takes jobs
  GpuSet held;          // promised to a job that waits for their users to leave
  bool usable = false;  // the node takes jobs now
};

class Capacity {
 public:
  explicit Capacity(const ClusterState& state);

  const std::vector<Slot>& slots() const { return slots_; }
  // Indexes of the slots of one node group, in network order.
  const std::vector<int>& group(const std::string& name) const;
  int index_of(NodeId node) const { return index_.at(node); }

  // For a job that starts now.
  void take(const Placement& placement);
  // For a job that starts when the GPUs' users have left; unhold() undoes it.
  void hold(const Placement& placement);
  void unhold(const Placement& placement);
  // Their user has left: what nobody else holds is free.
  void give(NodeId node, GpuSet gpus);

 private:
  std::vector<Slot> slots_;
  std::map<std::string, std::vector<int>> groups_;
  std::map<NodeId, int> index_;
};

// Orders "node-2" before "node-10".
bool network_order(const Node& a, const Node& b);

}  // namespace hai
