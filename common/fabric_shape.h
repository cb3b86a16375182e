#pragma once
// Where made-up nodes sit: shapes of a network for dev clusters and fleets, so that whoever makes
// nodes and whoever expects them agree without a file.

#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

enum class FabricShape {
  one_zone,  // zone A, leaves of at most 20 nodes
  two_zone,  // half of the leaves in zone A, half in zone B, as Fire-Flyer's two fat-trees
};
Result<FabricShape> parse_fabric_shape(std::string_view text);  // "one-zone", "two-zone"
std::string_view to_string(FabricShape shape);

struct FabricPlace {
  std::string zone;
  std::string leaf;
  bool operator==(const FabricPlace&) const = default;
};
// Of node `index` of `count`: nodes spread evenly over the fewest leaves that hold them.
FabricPlace place_in(FabricShape shape, int index, int count);

// "node-0007": names of one length sort like their numbers.
std::string numbered_node_name(std::string_view prefix, int index, int count);

}  // namespace hai
