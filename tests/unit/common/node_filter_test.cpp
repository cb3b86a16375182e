#include "common/node_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/agent_messages.h"

namespace hai {
namespace {

TEST(GpuType, IsWordsOfTheModelSideBySide) {
  const std::string model = "NVIDIA A100-SXM4-80GB";
  for (const char* type : {"a100", "A100", "a100-sxm4", "A100 SXM4", "a100_sxm4_80gb", "nvidia"}) {
    EXPECT_TRUE(is_gpu_type(type, model)) << type;
  }
  for (const char* type :
       {"", "a10", "100", "a100-80gb", "h800", "80", "NVIDIA A100-SXM4-80GB 2"}) {
    EXPECT_FALSE(is_gpu_type(type, model)) << type;
  }
  EXPECT_FALSE(is_gpu_type("a100", ""));
}

TEST(NodeFilter, TakesWhatHasAllThatIsAsked) {
  const NodeFacts node{
      .name = "node-12", .gpu_model = "NVIDIA H800", .labels = {"fast-disk", "new"}};
  EXPECT_TRUE(NodeFilter{}.takes(node));
  EXPECT_TRUE(
      (NodeFilter{.gpu_type = "h800", .labels = {"new"}, .nodes = "node-[1-20]"}.takes(node)));
  EXPECT_TRUE((NodeFilter{.labels = {"h800"}}.takes(node))) << "a type of its GPUs is a label";
  EXPECT_FALSE((NodeFilter{.gpu_type = "a100"}.takes(node)));
  EXPECT_FALSE((NodeFilter{.labels = {"new", "old"}}.takes(node)));
  EXPECT_FALSE((NodeFilter{.nodes = "node-[1-11]"}.takes(node)));
  EXPECT_FALSE((NodeFilter{.nodes = "node-[1-20]", .exclude = "node-12"}.takes(node)));
  EXPECT_TRUE((NodeFilter{.exclude = "node-1"}.takes(node)));
}

TEST(NodeFilter, SaysWhatItAsks) {
  EXPECT_EQ(filter_text({}), "");
  EXPECT_EQ(filter_text({"h800", {"a", "b"}, "node-[1-4]", "node-3"}),
            "GPU type h800, labels a and b, only node-[1-4], not node-3");
  EXPECT_LT(filter_text({.nodes = std::string(5'000, 'n')}).size(), 150u);
}

}  // namespace
}  // namespace hai
