#pragma once
// Nodes as incidents name them.

#include <string>
#include <vector>

#include "server/model/cluster_state.h"

namespace hai {

// "A/leaf-3"
std::string leaf_of(const Node& node);

// A host list, cut where it grows too long for a sentence.
std::string names_of(const ClusterState& state, const std::vector<NodeId>& nodes);

}  // namespace hai
