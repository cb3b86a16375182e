#include "common/fabric_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace hai {

namespace {

constexpr int kLeafNodesMax = 20;
constexpr int kNameDigitsMin = 4;

}  // namespace

Result<FabricShape> parse_fabric_shape(std::string_view text) {
  for (const FabricShape shape : {FabricShape::one_zone, FabricShape::two_zone}) {
    if (text == to_string(shape)) return shape;
  }
  return invalid_argument("topology {}: must be one-zone or two-zone", text);
}

std::string_view to_string(FabricShape shape) {
  switch (shape) {
    case FabricShape::one_zone:
      return "one-zone";
    case FabricShape::two_zone:
      return "two-zone";
  }
  return "";
}

FabricPlace place_in(FabricShape shape, int index, int count) {
  const int zones = shape == FabricShape::two_zone && count > 1 ? 2 : 1;
  const int leaves = std::max((count + kLeafNodesMax - 1) / kLeafNodesMax, zones);
  const auto leaf = static_cast<int>(int64_t{index} * leaves / count);
  return {.zone = std::string(1, static_cast<char>('A' + leaf * zones / leaves)),
          .leaf = fmt::format("leaf-{}", leaf + 1)};
}

std::string numbered_node_name(std::string_view prefix, int index, int count) {
  const auto digits = static_cast<int>(std::to_string(count).size());
  return fmt::format("{}-{:0{}}", prefix, index + 1, std::max(digits, kNameDigitsMin));
}

}  // namespace hai
