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

TEST(Remove, IsForOperatorsAndOfNodesThatAreDown) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.add_user("bob");
  c.set_liveness("node-1", Liveness::down);
  EXPECT_EQ(c.decide(RemoveNode{"node-1", ""}, "bob").status().code(), Code::permission_denied);
  EXPECT_EQ(c.decide(RemoveNode{"node-9", ""}).status().code(), Code::not_found);
  EXPECT_EQ(c.decide(RemoveNode{"node-2", ""}).status().code(), Code::failed_precondition);
  ASSERT_TRUE(c.decide(RemoveNode{"node-1", "sold"}).is_ok());
  EXPECT_EQ(c.state().find(NodeId{1})->removed_at, c.now);
  EXPECT_EQ(c.state().present_nodes(), 1U);
  for (const Command& verb : {Command{RemoveNode{"node-1", ""}}, Command{UndrainNode{"node-1"}},
                              Command{ValidateNode{"node-1"}}, Command{FenceNode{"node-1", ""}}}) {
    EXPECT_EQ(c.decide(verb).status().code(), Code::not_found);
  }
}

TEST(Remove, ShutsOutANodeWhoseCertificateOthersMade) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.set_liveness("node-1", Liveness::down);
  ASSERT_TRUE(c.decide(RemoveNode{"node-1", ""}).is_ok());
  ASSERT_NE(c.state().find_identity("node-1"), nullptr);
  EXPECT_EQ(c.state().find_identity("node-1")->revoked_at, c.now);
}

TEST(Remove, TakesTheIdentityAlong) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const UnixTime ahead = c.now + 1h;  // of a server whose clock is fast
  c.emit(NodeIdentitySet{{.node = "node-1", .serial = "1", .issued_at = ahead}, ""});
  c.set_liveness("node-1", Liveness::down);
  ASSERT_TRUE(c.decide(RemoveNode{"node-1", ""}).is_ok());
  EXPECT_EQ(c.state().find_identity("node-1")->revoked_at, ahead);
}

TEST(Remove, LeavesAGroupWithoutNodesUnknown) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.set_liveness("node-1", Liveness::down);
  ASSERT_TRUE(c.decide(RemoveNode{"node-1", ""}).is_ok());
  EXPECT_TRUE(c.state().node_census().groups().empty());
  EXPECT_EQ(c.state().gpus_of_largest_node("training"), 0);
}

// Another machine may have the name then: it has neither the faults nor the marks of the old one.
TEST(Remove, MakesTheNameFreeForANewNode) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const NodeFacts facts = c.node("node-1").facts;
  c.emit(NodeMarked{NodeId{1}, MarkKind::evict, "GPU 3", JobId{}});
  c.set_liveness("node-1", Liveness::down);
  ASSERT_TRUE(c.decide(RemoveNode{"node-1", ""}).is_ok());
  EXPECT_TRUE(c.state().find(NodeId{1})->health.marks.empty());
  c.emit(NodeRegistered{NodeId{2}, facts});
  EXPECT_EQ(c.node_id("node-1"), NodeId{2});
  EXPECT_TRUE(c.node("node-1").health.marks.empty());
  EXPECT_EQ(c.state().present_nodes(), 1U);
  EXPECT_TRUE(c.plan().starts.empty());
}

TEST(Remove, LeavesNoHardwareThatAGangCouldWaitFor) {
  Cluster c = cluster(nodes(4, gpus(8)).zone("A"), nodes(4, gpus(8)).zone("B"));
  for (const char* node : {"node-1", "node-2", "node-5", "node-6"}) {
    c.set_liveness(node, Liveness::down);
    ASSERT_TRUE(c.decide(RemoveNode{node, ""}).is_ok());
  }
  c.submit(job("wide").nodes(3));
  EXPECT_EQ(c.plan().starts.size(), 1U) << "no zone has three: it may cross";
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

TEST(Set, IsForOperatorsAndSaysWhatIsWrong) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("bob");
  const auto code = [&](NodeSettings settings, std::vector<std::string> reset = {}) {
    return c.decide(SetNode{"node-1", settings, reset}).status().code();
  };
  const size_t before = c.events().size();
  EXPECT_EQ(c.decide(SetNode{"node-1", {.leaf = "l"}}, "bob").status().code(),
            Code::permission_denied);
  EXPECT_EQ(c.decide(SetNode{"node-9", {.leaf = "l"}}).status().code(), Code::not_found);
  EXPECT_EQ(code({}), Code::invalid_argument);
  EXPECT_EQ(code({}, {"name"}), Code::invalid_argument);
  EXPECT_EQ(code({.group = ""}), Code::invalid_argument);
  EXPECT_EQ(code({.group = "a b"}), Code::invalid_argument);
  EXPECT_EQ(code({.labels = {{"fast disk"}}}), Code::invalid_argument);
  EXPECT_EQ(code({.labels = {{""}}}), Code::invalid_argument);
  EXPECT_EQ(code({.labels = std::vector<std::string>(33, "x")}), Code::invalid_argument);
  EXPECT_EQ(c.events().size(), before);
}

TEST(Set, CountsMoreThanWhatTheAgentSaysUntilItIsReset) {
  Cluster c = cluster(nodes(2, gpus(8)));
  NodeFacts told = c.node("node-1").facts;
  const auto reply =
      c.decide(SetNode{"node-1", {.group = "debug", .leaf = "", .labels = {{"a", "b"}}}});
  EXPECT_EQ(reply.value().message, "group debug, leaf none, labels a and b; debug is a new group");
  EXPECT_EQ(c.node("node-1").facts.group, "debug");
  EXPECT_EQ(c.node("node-1").facts.leaf, "");
  EXPECT_EQ(c.node("node-1").told_facts(), told);
  EXPECT_EQ(c.state().gpus_of_largest_node("debug"), 8);
  c.submit(job("d").group("debug"));
  ASSERT_EQ(c.plan().starts.size(), 1U) << "it takes jobs of its new group";

  told.leaf = "leaf-7";  // its config has changed meanwhile
  told.zone = "B";
  c.emit(NodeRegistered{NodeId{1}, told});
  EXPECT_EQ(c.node("node-1").facts.group, "debug");
  EXPECT_EQ(c.node("node-1").facts.zone, "B");
  EXPECT_EQ(c.decide(SetNode{"node-1", {}, {"leaf"}}).value().message,
            "group debug, labels a and b");
  EXPECT_EQ(c.node("node-1").facts.leaf, "leaf-7");
  EXPECT_EQ(c.decide(SetNode{"node-1", {}, {"group", "labels"}}).value().message,
            "as its agent says");
  EXPECT_EQ(c.node("node-1").facts, told);
  EXPECT_EQ(c.state().gpus_of_largest_node("debug"), 0);
  const size_t before = c.events().size();
  EXPECT_EQ(c.decide(SetNode{"node-1", {}, {"group"}}).value().message,
            "as its agent says already");
  EXPECT_EQ(c.events().size(), before);
}

TEST(Set, MovesNoNodeAwayFromUnderItsJobs) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("j"), {"node-1"});
  EXPECT_EQ(c.decide(SetNode{"node-1", {.group = "debug"}}).status().code(),
            Code::failed_precondition);
  EXPECT_EQ(c.decide(SetNode{"node-1", {.zone = "Z"}}).status().code(), Code::failed_precondition);
  EXPECT_TRUE(c.decide(SetNode{"node-1", {.leaf = "l", .labels = {{"a"}}}}).is_ok());
  EXPECT_EQ(c.node("node-1").facts.leaf, "l");
  // What it is already, it may be set to: then a change of its config does not move it.
  EXPECT_TRUE(c.decide(SetNode{"node-1", {.group = "training"}}).is_ok());
}

}  // namespace
}  // namespace hai::test
