#pragma once
// The rows that changed, as they are to be stored.

#include "server/control/ports.h"
#include "server/model/cluster_state.h"

namespace hai {

// Rows that are in `touched` and no more in the state are to be removed. Without epoch and events.
AppendBatch rows_to_append(const ClusterState& state, Touched touched);

}  // namespace hai
