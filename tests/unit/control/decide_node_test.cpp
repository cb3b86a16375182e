// Cordon, drain, undrain.

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

TEST(NodeVerbs, AreForOperators) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob").add_user("olga", {}, Role::operator_);
  for (const Command& verb : {Command{CordonNode{"node-1", ""}}, Command{DrainNode{"node-1", ""}},
                              Command{UndrainNode{"node-1"}}}) {
    EXPECT_EQ(c.decide(verb, "bob").status().code(), Code::permission_denied);
    EXPECT_TRUE(c.decide(verb, "olga").is_ok());
  }
  EXPECT_EQ(c.decide(CordonNode{"node-9", ""}).status().code(), Code::not_found);
}

TEST(Cordon, SaysWhoAndWhy) {
  Cluster c = cluster(nodes(1, gpus(8)));
  ASSERT_TRUE(c.decide(CordonNode{"node-1", "fan"}).is_ok());
  const Node& node = c.node("node-1");
  EXPECT_EQ(node.scheduling, Scheduling::cordoned);
  EXPECT_EQ(node.scheduling_reason, "fan");
  EXPECT_EQ(node.scheduling_by, "ann");
  size_t before = c.events().size();
  ASSERT_TRUE(c.decide(CordonNode{"node-1", "fan"}).is_ok());
  EXPECT_EQ(c.events().size(), before);
}

TEST(Drain, OfAnEmptyNodeIsDoneAtOnce) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("j"), {"node-2"});
  EXPECT_EQ(c.decide(DrainNode{"node-1", ""}).value().message, "drained");
  EXPECT_EQ(c.decide(DrainNode{"node-2", ""}).value().message, "draining");
}

TEST(Undrain, OpensTheNodeAgain) {
  Cluster c = cluster(nodes(1, gpus(8)));
  ASSERT_TRUE(c.decide(DrainNode{"node-1", "fan"}).is_ok());
  ASSERT_TRUE(c.decide(UndrainNode{"node-1"}).is_ok());
  const Node& node = c.node("node-1");
  EXPECT_EQ(node.scheduling, Scheduling::open);
  EXPECT_EQ(node.scheduling_reason, "");
  EXPECT_EQ(node.scheduling_by, "");
}

}  // namespace
}  // namespace hai::test
