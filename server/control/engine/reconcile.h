#pragma once
// Desired minus reported: the orders that bring one node to what the state wants. Level-triggered,
// so a lost order is only a delay. Pure but for the session's record of what is on its way.

#include <map>
#include <set>
#include <vector>

#include "common/knobs.h"
#include "server/control/sessions.h"
#include "server/model/cluster_state.h"

namespace hai {

// Where the ranks of attempts are, made once for all nodes of a gang. For one turn only: nodes may
// register anew with another address.
class PlacesOfTurn {
 public:
  RankPlaces of(const ClusterState& state, const Job& job);

 private:
  std::map<JobId, RankPlaces> places_;
};

struct TurnOfNode {
  UnixTime now;
  MonoTime mono_now;
  bool is_addressed = false;  // something leaves for the node in this turn anyway
  // Not all nodes have reported: what a rank has said of late is not known yet.
  bool is_listening = false;
};

// The session must have reported. Orders already on their way are not repeated within
// knobs.resend_after. That an agent may forget a rank waits up to kForgetPause, and for the next
// tick, for an order that it can go along with: at full size a start is mostly messages.
constexpr Duration kForgetPause = 500ms;
std::vector<OrderBody> reconcile(const ClusterState& state, const Knobs& knobs, Session& session,
                                 const TurnOfNode& turn, PlacesOfTurn& places);

// The order that launches one rank of the live attempt.
LaunchRank launch_order(const ClusterState& state, const Job& job, int rank, PlacesOfTurn& places);

}  // namespace hai
