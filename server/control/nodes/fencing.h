#pragma once
// When a silent node has surely ended its ranks, so that they may run elsewhere (design/0005).
// Pure: what is asked is a fact about leases, not about the network.

#include <string>

#include "common/knobs.h"
#include "server/control/sessions.h"
#include "server/model/cluster_state.h"

namespace hai {

inline constexpr int kPeersMax = 5;

// Of so many peers, how many must say that their lease is dead before a node may keep its ranks.
constexpr int majority_of(int peers) { return peers / 2 + 1; }
// Of so many peers, how many with a live lease make such a majority impossible.
constexpr int witnesses_needed(int peers) { return peers - majority_of(peers) + 1; }

// After its last granted report a node's ranks live so long, unless its peers' answers say that
// nobody leads. Between agent_lease and down_after.
Duration fence_after(const Knobs& knobs);

// Neither a grant of ours nor its peers can have kept the node's ranks alive: it has had no grant
// for `down_after`, and for all that time so many of its peers had live leases that the others were
// no majority. False for a node that may still hold on.
bool is_surely_fenced(const ClusterState& state, const Sessions& sessions, const Knobs& knobs,
                      NodeId node, MonoTime now);

// Whether even a report that asks for no lease is answered with one: the node has had no grant for
// longer than a heartbeat. The report that asked may be lost or overtaken, and a node that is `up`
// by this report must not be given up for want of grants while launches are on their way to it.
bool needs_grant(const Sessions& sessions, const Knobs& knobs, NodeId node, MonoTime now);

// Whether a launch may leave for the node now: its lease may still be alive, and `down_after` is
// far enough away that the launch has arrived before the node can be given up.
bool may_launch(const Sessions& sessions, const Knobs& knobs, NodeId node, MonoTime now);

// An operator may vouch that a node is off only if it is silent: one that answers runs its ranks.
Status check_silent(const Sessions& sessions, const Knobs& knobs, const Node& node, MonoTime now);

}  // namespace hai
