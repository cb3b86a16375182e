#include "server/control/nodes/fencing.h"

#include <algorithm>

namespace hai {
namespace {

// A list of peers can't have said "dead" by majority at any time of the last `down_after`.
bool was_in_the_way(const Sessions& sessions, const std::vector<NodeId>& peers, Duration down_after,
                    MonoTime now) {
  const auto witnesses = std::ranges::count_if(peers, [&](NodeId peer) {
    const ProvenLease lease = sessions.proven_lease(peer);
    return lease.since <= now - down_after && lease.until >= now;
  });
  return peers.empty() || witnesses >= witnesses_needed(static_cast<int>(peers.size()));
}

}  // namespace

Duration fence_after(const Knobs& knobs) {
  return knobs.agent_lease + (knobs.down_after - knobs.agent_lease) * 3 / 4;
}

bool is_surely_fenced(const ClusterState& state, const Sessions& sessions, const Knobs& knobs,
                      NodeId id, MonoTime now) {
  if (now - sessions.contact(id) <= knobs.down_after) return false;
  const NodePeers& peers = state.find(id)->peers;
  return was_in_the_way(sessions, peers.confirmed, knobs.down_after, now) &&
         (!peers.named || was_in_the_way(sessions, *peers.named, knobs.down_after, now));
}

bool needs_grant(const Sessions& sessions, const Knobs& knobs, NodeId node, MonoTime now) {
  return now - sessions.contact(node) > knobs.heartbeat;
}

bool may_launch(const Sessions& sessions, const Knobs& knobs, NodeId node, MonoTime now) {
  return now - sessions.contact(node) < knobs.agent_lease;
}

Status check_silent(const Sessions& sessions, const Knobs& knobs, const Node& node, MonoTime now) {
  const Duration limit = silence_limit(knobs);
  if (node.liveness == Liveness::down || now - sessions.contact(node.id) > limit) return ok();
  return failed_precondition(
      "node {} has answered within the last {}, so it is not off: drain it, or switch it off and "
      "try again",
      node.facts.name, format_duration(limit));
}

}  // namespace hai
