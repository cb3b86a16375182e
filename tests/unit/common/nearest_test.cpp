#include "common/nearest.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Nearest, FindsTheSlip) {
  const std::vector<std::string> kKeys = {"name", "node_count", "gpus_per_node", "group", "image"};
  EXPECT_EQ(nearest("nam", kKeys), "name");
  EXPECT_EQ(nearest("nodecount", kKeys), "node_count");
  EXPECT_EQ(nearest("node_cuont", kKeys), "node_count");
  EXPECT_EQ(nearest("gpu_per_node", kKeys), "gpus_per_node");
  EXPECT_EQ(nearest("gruop", kKeys), "group");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("watchdog", {"name", "group"}), "");
  EXPECT_EQ(nearest("ab", {"xy"}), "");
  EXPECT_EQ(nearest("", {"a"}), "");
  EXPECT_EQ(nearest(std::string(1'000, 'x'), {"name"}), "");
  EXPECT_EQ(nearest("name", {}), "");
}

}  // namespace
}  // namespace hai
