#pragma once
// Nodes by their names, and the one error for a list that names nodes which are not there.

#include <string>
#include <vector>

#include "common/status.h"
#include "server/model/cluster_state.h"

namespace hai {

// All that bear these names or bore them until they were removed, in the order they came: their
// history can still be asked for. The error is unknown_nodes' of those that nobody bore.
Result<std::vector<NodeId>> nodes_ever_called(const ClusterState& state,
                                              const std::vector<std::string>& names);

// not_found: "nodes node-[8-9] do not exist: nothing was changed".
Status unknown_nodes(std::vector<std::string> names, std::string_view and_so = "");

}  // namespace hai
