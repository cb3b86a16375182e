#pragma once
// Whether an event may follow a state. ClusterState::apply stops the program on one that may not,
// which is right for a server, whose own bug that would be, and wrong for a log that was read from
// a file.

#include "common/status.h"
#include "server/model/cluster_state.h"

namespace hai {

// `data_loss` saying what does not fit.
Status fits(const ClusterState& state, const Event& event);

}  // namespace hai
