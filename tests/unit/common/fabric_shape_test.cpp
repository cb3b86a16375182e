#include "common/fabric_shape.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace hai {
namespace {

TEST(FabricShape, TwoZonesShareTheNodesAndNoLeaf) {
  for (const int count : {1, 2, 3, 40, 41, 1'250, 12'500}) {
    std::map<std::string, std::set<std::string>> zones_of_leaf;
    std::map<std::string, int> nodes_of_zone;
    std::map<std::string, int> nodes_of_leaf;
    for (int i = 0; i < count; ++i) {
      const FabricPlace place = place_in(FabricShape::two_zone, i, count);
      zones_of_leaf[place.leaf].insert(place.zone);
      ++nodes_of_zone[place.zone];
      EXPECT_LE(++nodes_of_leaf[place.leaf], 20);
    }
    EXPECT_EQ(nodes_of_zone.size(), count > 1 ? 2U : 1U) << count;
    EXPECT_LE(std::abs(nodes_of_zone["A"] - nodes_of_zone["B"]), 20 + 1) << count;
    for (const auto& [leaf, zones] : zones_of_leaf) EXPECT_EQ(zones.size(), 1U) << leaf;
  }
}

TEST(FabricShape, LeavesAreAsFullAsTheyCanBe) {
  for (const auto& [count, leaves] : {std::pair(1, 1), {20, 1}, {21, 2}, {40, 2}, {41, 3}}) {
    std::set<std::string> names;
    for (int i = 0; i < count; ++i) {
      const FabricPlace place = place_in(FabricShape::one_zone, i, count);
      EXPECT_EQ(place.zone, "A");
      names.insert(place.leaf);
    }
    EXPECT_EQ(names.size(), static_cast<size_t>(leaves)) << count;
    EXPECT_TRUE(names.contains("leaf-1"));
  }
}

TEST(FabricShape, NamesSortLikeTheirNumbers) {
  EXPECT_EQ(numbered_node_name("node", 6, 1'250), "node-0007");
  EXPECT_EQ(numbered_node_name("node", 6, 12'500), "node-00007");
  EXPECT_EQ(numbered_node_name("n", 0, 1), "n-0001");
}

TEST(FabricShape, IsReadAsItIsWritten) {
  for (const FabricShape shape : {FabricShape::one_zone, FabricShape::two_zone}) {
    EXPECT_EQ(parse_fabric_shape(to_string(shape)).value(), shape);
  }
  EXPECT_EQ(parse_fabric_shape("three-zone").status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace hai
