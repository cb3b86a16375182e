#pragma once
// The cluster of a replay: `NxG` (N nodes of G GPUs in two zones, leaves of 20 nodes), or a CSV
// file of `node,group,zone,leaf,gpus`, or a topology of `ip,DSW,PSW,ASW` (zone = DSW, leaf =
// PSW/ASW).

#include <string>
#include <string_view>
#include <vector>

#include "common/agent_messages.h"
#include "common/status.h"

namespace hai {

// The user who sets a replay's cluster up.
inline constexpr std::string_view kTraceAdmin = "admin";

struct TraceCluster {
  std::vector<NodeFacts> nodes;  // all in one group and with as many GPUs
  int gpus_per_node = 0;
  int most_nodes_together = 0;  // the largest gang: at most two zones
  const std::string& group() const { return nodes.front().group; }
  int64_t gpus() const { return std::ssize(nodes) * gpus_per_node; }
};

Result<TraceCluster> read_cluster(const std::string& text_or_path);

}  // namespace hai
