#include "server/control/nodes/decide_peers.h"

#include <algorithm>

#include "server/control/nodes/fencing.h"

namespace hai {
namespace {

bool can_answer(const Node& node, const Sessions& sessions) {
  return node.liveness != Liveness::down && node.facts.peer_port != 0 &&
         sessions.find(node.id) != nullptr;
}

// Nodes that can answer, leaf by leaf, so that a node's peers stand elsewhere: a switch that fails
// must not take the node and those who would vouch for it.
class PeerChoice {
 public:
  PeerChoice(const ClusterState& state, const Sessions& sessions) {
    std::map<std::string, std::vector<NodeId>> leaves;
    for (const auto& [id, node] : state.nodes()) {
      if (!can_answer(node, sessions)) continue;
      leaves[node.facts.zone + '/' + node.facts.leaf].push_back(id);
      ++count_;
    }
    for (auto& [name, ids] : leaves) leaves_.push_back(std::move(ids));
  }

  int best_size() const { return std::min(kPeersMax, count_ - 1); }

  // Walks the other leaves from the node's own on, one node of each, at the place the node has in
  // its leaf: every node is a peer of about as many others.
  std::vector<NodeId> for_node(NodeId node) const {
    size_t own_leaf = 0;
    size_t place = 0;
    for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      auto found = std::ranges::lower_bound(leaves_[leaf], node);
      if (found == leaves_[leaf].end() || *found != node) continue;
      own_leaf = leaf;
      place = static_cast<size_t>(found - leaves_[leaf].begin());
    }
    std::vector<NodeId> peers;
    for (size_t round = 0; round <= static_cast<size_t>(count_); ++round) {
      for (size_t step = 1; step <= leaves_.size(); ++step) {
        if (static_cast<int>(peers.size()) == best_size()) return peers;
        const std::vector<NodeId>& leaf = leaves_[(own_leaf + step) % leaves_.size()];
        if (round >= leaf.size()) continue;
        const NodeId peer = leaf[(place + round) % leaf.size()];
        if (peer != node) peers.push_back(peer);
      }
    }
    return peers;
  }

 private:
  std::vector<std::vector<NodeId>> leaves_;
  int count_ = 0;
};

// Shorter than it could be, or with somebody who is gone.
bool is_poor(const ClusterState& state, const std::vector<NodeId>& peers, int best_size) {
  if (static_cast<int>(peers.size()) < best_size) return true;
  return std::ranges::any_of(peers, [&](NodeId id) {
    const Node* peer = state.find(id);
    return peer == nullptr || peer->liveness == Liveness::down || peer->facts.peer_port == 0;
  });
}

}  // namespace

void decide_peers(Decision& decision, const Sessions& sessions) {
  const ClusterState& state = decision.state();
  const PeerChoice choice(state, sessions);
  int named = 0;
  for (const auto& [id, node] : state.nodes()) {
    if (!can_answer(node, sessions)) continue;
    const int64_t known = sessions.find(id)->peers_version;
    // It goes by a list that a store that went back has forgotten, and takes no older one.
    const bool is_unknown = known > node.peers.version;
    // One list at a time is on its way: more than two that may be in force could not be kept apart.
    if (node.peers.named && !is_unknown) continue;
    if (!is_unknown && !is_poor(state, node.peers.confirmed, choice.best_size())) continue;
    std::vector<NodeId> peers = choice.for_node(id);
    const bool is_no_better = peers == node.peers.confirmed ||
                              // Nobody to ask is worse than somebody who may come back.
                              (peers.empty() && node.peers.version > 0);
    if (is_no_better && !is_unknown) continue;
    decision.emit(NodePeersNamed{id, std::max(node.peers.version, known) + 1, std::move(peers)});
    if (++named == kPeerListsPerTick) return;
  }
}

NamePeers peers_order(const ClusterState& state, const Node& node) {
  NamePeers order{.version = node.peers.version};
  for (NodeId id : node.peers.named ? *node.peers.named : node.peers.confirmed) {
    if (id == NodeId{}) continue;  // a peer that was replaced
    const NodeFacts& facts = state.find(id)->facts;
    order.peers.push_back({facts.name, facts.address, facts.peer_port});
  }
  return order;
}

}  // namespace hai
