// Cordon, drain, undrain.

#include <gmock/gmock.h>
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

TEST(Drain, WithADeadlineCordonsUntilThen) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("j"), {"node-2"});
  const UnixTime deadline = c.now + 1h;
  EXPECT_THAT(c.decide(DrainNode{"node-2", "fan", deadline}).value().message,
              testing::HasSubstr("cordoned"));
  EXPECT_EQ(c.node("node-2").scheduling, Scheduling::cordoned);
  EXPECT_EQ(c.node("node-2").drain_at, deadline);
  const size_t before = c.events().size();
  ASSERT_TRUE(c.decide(DrainNode{"node-2", "fan", deadline}).is_ok());
  EXPECT_EQ(c.events().size(), before);
  ASSERT_TRUE(c.decide(CordonNode{"node-2", "fan"}).is_ok());
  EXPECT_EQ(c.node("node-2").drain_at, std::nullopt);
  EXPECT_EQ(c.decide(DrainNode{"node-1", "fan", deadline}).value().message, "drained");
  EXPECT_EQ(c.node("node-1").drain_at, std::nullopt);
}

TEST(Drain, RefusesADeadlineThatIsOverOrTooFarAway) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("j"), {"node-1"});
  for (const UnixTime deadline : {c.now, c.now + 367 * 24h}) {
    EXPECT_EQ(c.decide(DrainNode{"node-1", "", deadline}).status().code(), Code::invalid_argument);
  }
  EXPECT_EQ(c.node("node-1").scheduling, Scheduling::open);
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
