#pragma once
// Names the peers each node asks when its lease has ended, and renews lists that have grown poor.

#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

// At most kPeerListsPerTick lists, so that a cluster that starts is not one huge turn.
inline constexpr int kPeerListsPerTick = 250;
void decide_peers(Decision& decision, const Sessions& sessions);

// The order that tells the node, as its list and the peers' addresses are now.
NamePeers peers_order(const ClusterState& state, const Node& node);

}  // namespace hai
