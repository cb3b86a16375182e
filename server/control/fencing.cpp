#include "server/control/fencing.h"

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

}  // namespace hai
