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

TEST(Nearest, CountsWhatHasToBeTypedAnew) {
  // Two slips are near, three are not; a swap of neighbours is one.
  for (const char* word : {"nmae", "anme", "naem", "nam", "names", "bame", "xname", "na"}) {
    EXPECT_EQ(nearest(word, {"name"}), "name") << word;
  }
  for (const char* word : {"n", "xyame", "eman", "name123"}) {
    EXPECT_EQ(nearest(word, {"namespace"}), "") << word;
  }
  EXPECT_EQ(nearest("naem", {"nabc", "name"}), "name") << "a swap is one slip, not two";
  EXPECT_EQ(nearest("grop", {"grasp", "group", "prop"}), "group") << "the nearest, else the first";
  EXPECT_EQ(nearest(std::string(64, 'x'), {std::string(63, 'x') + "y"}),
            std::string(63, 'x') + "y");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("watchdog", {"name", "group"}), "");
  EXPECT_EQ(nearest("ab", {"xy"}), "");
  EXPECT_EQ(nearest("", {"a"}), "");
  EXPECT_EQ(nearest("na", {"gpus_per_node"}), "") << "short, but far";
  EXPECT_EQ(nearest("gpus_per_node", {"na"}), "");
  EXPECT_EQ(nearest(std::string(1'000, 'x'), {"name"}), "");
  EXPECT_EQ(nearest("name", {}), "");
}

}  // namespace
}  // namespace hai
