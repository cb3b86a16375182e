// ClusterState, the part about what nodes there are, how they stand and whom they ask.

#include <utility>

#include "common/check.h"
#include "server/model/cluster_state.h"

namespace hai {

void ClusterState::on(const NodeRegistered& event, const Event& meta) {
  if (const Node* known = nodes_.find(event.node)) {
    if (is_another_agent(known->facts, event.facts)) forget_as_peer(event.node);
    CHECK(!known->removed_at);
    node_census_.remove(known->facts);
  } else {
    CHECK(!node_names_.contains(event.facts.name));
    Node fresh;
    fresh.id = event.node;
    fresh.liveness = Liveness::suspect;
    fresh.liveness_reason = "registered just now";
    fresh.health.validated_at = meta.time;
    nodes_.set(event.node, std::move(fresh));
    node_names_.emplace(event.facts.name, event.node);
  }
  Node& registered = nodes_.change(event.node);
  registered.take_facts(event.facts);
  node_census_.add(registered.facts);
  note_node_size(registered);
  changes_ = {.everything = true};
}

void ClusterState::on(const NodeSet& event, const Event&) {
  Node& changed = node(event.node);
  CHECK(!changed.removed_at);
  node_census_.remove(changed.facts);
  const std::string group = changed.facts.group;
  changed.take_settings(event.settings);
  node_census_.add(changed.facts);
  if (changed.facts.group != group) {
    largest_nodes_.clear();
    for (const auto& [id, each] : nodes_.all()) note_node_size(each);
  }
  changes_ = {.everything = true};
}

// The row stays for those that name it, with nothing left to be done about it. The name is free: a
// machine that registers under it later is a new node.
void ClusterState::on(const NodeRemoved& event, const Event& meta) {
  Node& removed = node(event.node);
  CHECK(!removed.removed_at);
  node_census_.remove(removed.facts);
  node_names_.erase(removed.facts.name);
  removed.removed_at = meta.time;
  removed.health = NodeHealth{};
  removed.scheduling = Scheduling::open;
  removed.scheduling_reason.clear();
  removed.scheduling_by.clear();
  removed.drain_at.reset();
  largest_nodes_.clear();
  for (const auto& [id, each] : nodes_.all()) note_node_size(each);
  changes_ = {.everything = true};
}

void ClusterState::forget_as_peer(NodeId replaced) {
  for (const auto& [id, other] : nodes_.all()) {
    if (other.peers.asks(replaced)) nodes_.change(id).peers.peer_was_replaced(replaced);
  }
}

void ClusterState::on(const NodeLivenessChanged& event, const Event&) {
  Node& changed = node(event.node);
  changed.liveness = event.liveness;
  changed.liveness_reason = event.reason;
}

void ClusterState::on(const NodeSchedulingChanged& event, const Event&) {
  Node& changed = node(event.node);
  changed.scheduling = event.scheduling;
  changed.scheduling_reason = event.reason;
  changed.scheduling_by = event.by;
  changed.drain_at = event.drain_at;
}

void ClusterState::on(const NodePeersNamed& event, const Event&) {
  NodePeers& peers = node(event.node).peers;
  CHECK(peers.may_be_followed_by(event.version));
  peers.version = event.version;
  peers.named = event.peers;
}

void ClusterState::on(const NodePeersConfirmed& event, const Event&) {
  NodePeers& peers = node(event.node).peers;
  CHECK(peers.named.has_value());
  peers.confirmed = *std::exchange(peers.named, std::nullopt);
}

}  // namespace hai
