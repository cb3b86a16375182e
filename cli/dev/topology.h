#pragma once
// The nodes of a dev cluster and where they sit: from a file, or node-1 ... node-N evenly over
// leaves.

#include <string>
#include <string_view>
#include <vector>

#include "common/fabric_shape.h"
#include "common/status.h"

namespace hai::cli {

inline constexpr int kDevNodesMax = 200;
inline constexpr int kDevFleetMax = 15'000;

struct DevNode {
  std::string name;
  std::string group = "training";
  std::string zone = "A";
  std::string leaf = "leaf-1";
  int gpus = 8;
  std::string gpu_model;  // of the simulated ones; "" = simulated
  std::string label;      // "" = none
  bool operator==(const DevNode&) const = default;
};

// node-1 ... node-N, evenly on leaves of at most 20.
std::vector<DevNode> default_topology(int nodes, int gpus,
                                      FabricShape shape = FabricShape::one_zone);
// What `hai-agent --fleet N --topology SHAPE` is.
std::vector<DevNode> fleet_topology(int nodes, int gpus, FabricShape shape);

// A YAML list of {name, zone, leaf, group, gpus}, or a mapping with that list under `nodes`; only
// the name is required.
Result<std::vector<DevNode>> parse_topology(std::string_view yaml, int gpus);

}  // namespace hai::cli
