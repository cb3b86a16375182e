#pragma once
// For whom a job that holds nodes waits.

#include <map>
#include <set>

#include "server/model/cluster_state.h"

namespace hai {

// What jobs that start in this pass will take of nodes' CPUs and memory.
struct HostTaken {
  std::map<NodeId, HostParts> of_node;
  std::set<JobId> by;
};

// Jobs that stand on GPUs held for the holder, and, where CPUs or memory of a node are not there
// yet, those of them that leave this node for it.
std::set<JobId> waits_for(const ClusterState& state, const Job& holder,
                          const HostTaken& taken = {});

// A node held for it that does not have its CPUs or memory although nobody leaves it any more: the
// machine has become smaller, or another job got there first. Null if there is none.
const Node* node_too_small(const ClusterState& state, const Job& holder, const HostTaken& taken);

}  // namespace hai
