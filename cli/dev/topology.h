#pragma once
// The nodes of a dev cluster and where they sit: from a file, or node-1 ... node-N evenly over
// leaves.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai::cli {

inline constexpr int kDevNodesMax = 200;

struct DevNode {
  std::string name;
  std::string group = "training";
  std::string zone = "A";
  std::string leaf = "leaf-1";
  int gpus = 8;
  bool operator==(const DevNode&) const = default;
};

// Up to 20 nodes on one leaf; more go evenly on leaves of at most 20.
std::vector<DevNode> default_topology(int nodes, int gpus);

// A YAML list of {name, zone, leaf, group, gpus}, or a mapping with that list under `nodes`; only
// the name is required.
Result<std::vector<DevNode>> parse_topology(std::string_view yaml, int gpus);

}  // namespace hai::cli
