#pragma once
// What must hold between events, checked by the simulator after every step and by tests.

#include <string>
#include <vector>

#include "server/model/cluster_state.h"

namespace hai {

// Every violation as one sentence; empty if all holds:
// no GPU is given or held twice; live attempts are whole gangs on distinct nodes; indexes agree
// with jobs; each suspension for a beneficiary has one; quotas' usage equals the sum of the live
// attempts.
std::vector<std::string> violated_invariants(const ClusterState& state);

}  // namespace hai
