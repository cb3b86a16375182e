// Which jobs are looked at on a node before they are queued, and on which.

#include "server/api/launch_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

JobSpec in_image(const std::string& image, std::vector<std::string> mounts = {}) {
  JobSpec spec = job("j").spec();
  spec.image = image;
  spec.program.mounts = std::move(mounts);
  return spec;
}

TEST(LaunchLook, IsForWhatJobsNameByAPath) {
  EXPECT_FALSE(wants_look(in_image("")));
  EXPECT_FALSE(wants_look(in_image("docker://box")));
  EXPECT_TRUE(wants_look(in_image("docker://box", {"/data"})));
  for (const char* image : {"oci:/x:1", "oci-archive:/x", "docker-archive:/x", "rootfs:/x"}) {
    EXPECT_TRUE(wants_look(in_image(image))) << image;
  }
}

TEST(LaunchLook, NamesImageAndMountsAndWhoseTheJobIs) {
  EXPECT_THAT(words_of_look(in_image("oci:/x:1", {"/a", "/b:/c:ro"}), "ann"),
              ::testing::ElementsAre("look", "--user=ann", "--image=oci:/x:1", "--mount=/a",
                                     "--mount=/b:/c:ro"));
}

TEST(LaunchLook, IsOnANodeThatTheJobMayRunOn) {
  Cluster c = cluster(nodes(2, gpus(8)).zone("A"), nodes(2, gpus(8)).zone("B"));
  JobSpec spec = in_image("oci:/x");
  EXPECT_EQ(node_to_look_at(c.state(), spec), "node-1");
  c.set_scheduling("node-1", Scheduling::cordoned);
  EXPECT_EQ(node_to_look_at(c.state(), spec), "node-2");
  spec.zone = "B";
  EXPECT_EQ(node_to_look_at(c.state(), spec), "node-3");
  spec.node_filter.exclude = "node-3";
  EXPECT_EQ(node_to_look_at(c.state(), spec), "node-4");
  spec.group = "other";
  EXPECT_EQ(node_to_look_at(c.state(), spec), "");
}

}  // namespace
}  // namespace hai::test
