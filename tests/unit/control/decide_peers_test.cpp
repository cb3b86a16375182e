// Whom each node is told to ask.

#include "server/control/nodes/decide_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "server/control/nodes/fencing.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::SizeIs;

// Leaves of three nodes, all in contact, each with a place to be asked.
struct Peered {
  Cluster c;
  Sessions sessions;

  explicit Peered(int leaves) : c(parts(leaves)) {
    std::vector<NodeId> ids;
    for (const auto& [id, node] : c.state().nodes()) ids.push_back(id);
    for (NodeId id : ids) {
      NodeFacts facts = c.state().find(id)->facts;
      facts.leaf = "leaf-" + std::to_string((id.value - 1) / 3);
      facts.peer_port = 7703;
      c.emit(NodeRegistered{id, facts});
      c.set_liveness(facts.name, Liveness::up);
      sessions.open(ConnectionId{id.value}, facts.name);
      sessions.bind(*sessions.find(ConnectionId{id.value}), id);
    }
    decide();
  }
  static std::vector<NodesBuilder> parts(int leaves) { return {nodes(3 * leaves, gpus(8))}; }
  void decide() {
    c.decide_with([&](Decision& decision) { decide_peers(decision, sessions); });
  }
  const NodePeers& peers(const std::string& name) const { return c.node(name).peers; }
  void confirm_all() {
    std::vector<NodeId> ids;
    for (const auto& [id, node] : c.state().nodes()) {
      if (node.peers.named) ids.push_back(id);
    }
    for (NodeId id : ids) c.emit(NodePeersConfirmed{id});
  }
};

TEST(Peers, AreFiveOthersOnOtherLeaves) {
  Peered p(6);
  for (const auto& [id, node] : p.c.state().nodes()) {
    ASSERT_TRUE(node.peers.named);
    EXPECT_THAT(*node.peers.named, SizeIs(kPeersMax));
    std::set<std::string> leaves{node.facts.leaf};
    for (NodeId peer : *node.peers.named) leaves.insert(p.c.state().find(peer)->facts.leaf);
    EXPECT_THAT(leaves, SizeIs(6)) << node.facts.name;
  }
}

TEST(Peers, AreSpreadEvenly) {
  Peered p(6);
  std::map<NodeId, int> asked;
  for (const auto& [id, node] : p.c.state().nodes()) {
    for (NodeId peer : *node.peers.named) ++asked[peer];
  }
  for (const auto& [id, count] : asked) EXPECT_EQ(count, kPeersMax) << id.value;
  EXPECT_THAT(asked, SizeIs(18));
}

TEST(Peers, AreAsManyAsThereAre) {
  Peered p(1);
  EXPECT_THAT(*p.peers("node-1").named, SizeIs(2));
}

TEST(Peers, ASecondListWaitsForTheFirstToBeConfirmed) {
  Peered p(2);
  p.c.set_liveness("node-4", Liveness::down);
  const size_t before = p.c.events().size();
  p.decide();
  EXPECT_EQ(p.c.events().size(), before);
  p.confirm_all();
  p.decide();
  ASSERT_TRUE(p.peers("node-1").named);
  EXPECT_THAT(*p.peers("node-1").named, ::testing::Not(::testing::Contains(p.c.node_id("node-4"))));
  EXPECT_THAT(p.peers("node-1").confirmed, SizeIs(5)) << "in force until the other is confirmed";
}

TEST(Peers, AGoodListStays) {
  Peered p(2);
  p.confirm_all();
  const size_t before = p.c.events().size();
  p.decide();
  EXPECT_EQ(p.c.events().size(), before);
}

// A node that goes by a list which the store has forgotten would take no list with a lower number.
TEST(Peers, AListIsNumberedAboveTheOneItsNodeGoesBy) {
  Peered p(2);
  p.confirm_all();
  p.sessions.find(p.c.node_id("node-1"))->peers_version = 7;
  p.c.set_liveness("node-4", Liveness::down);
  p.decide();
  ASSERT_TRUE(p.peers("node-1").named);
  EXPECT_EQ(p.peers("node-1").version, 8);
  EXPECT_EQ(p.peers("node-2").version, 2) << "the others go by their first";
}

TEST(Peers, TheLastOneIsKeptWhenItIsDown) {
  Peered p(1);
  p.confirm_all();
  p.c.set_liveness("node-2", Liveness::down);
  p.c.set_liveness("node-3", Liveness::down);
  p.decide();
  EXPECT_FALSE(p.peers("node-1").named);
  EXPECT_THAT(p.peers("node-1").confirmed, SizeIs(2));
}

// A store that went back has forgotten it, and the one that is on its way is older: the node will
// never take that.
TEST(Peers, ANodeThatGoesByAForgottenListGetsANewerOneAtOnce) {
  Peered p(2);
  const NodeId id = p.c.node_id("node-1");
  ASSERT_TRUE(p.peers("node-1").named);
  p.sessions.find(id)->peers_version = 7;
  p.decide();
  EXPECT_EQ(p.peers("node-1").version, 8);
  p.decide();
  EXPECT_EQ(p.peers("node-1").version, 8) << "named once";
}

// Chaos seed 895377850: a node asks the old agent of a name, at its address; the new one's lease
// says nothing of what that answers.
TEST(Peers, WhoseNameAnotherAgentTookAreNoWitnessesAndAreReplaced) {
  Peered p(2);
  p.confirm_all();
  const NodeId replaced = p.c.node_id("node-4");
  ASSERT_TRUE(p.peers("node-1").asks(replaced));
  NodeFacts facts = p.c.state().find(replaced)->facts;
  facts.instance = "old";
  p.c.emit(NodeRegistered{replaced, facts});
  EXPECT_TRUE(p.peers("node-1").asks(replaced))
      << "an agent that did not tell before may be the same";
  facts.instance = "new";
  p.c.emit(NodeRegistered{replaced, facts});
  EXPECT_FALSE(p.peers("node-1").asks(replaced));
  EXPECT_TRUE(p.peers("node-1").asks(NodeId{})) << "it counts among those asked";
  EXPECT_EQ(peers_order(p.c.state(), p.c.node("node-1")).peers.size(),
            p.peers("node-1").confirmed.size() - 1);
  p.decide();
  ASSERT_TRUE(p.peers("node-1").named);
  EXPECT_FALSE(std::ranges::count(*p.peers("node-1").named, NodeId{}));
}

}  // namespace
}  // namespace hai::test
