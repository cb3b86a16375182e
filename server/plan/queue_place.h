#pragma once
// Where a waiting job stands in the queue of its node group, for people: a job behind another one
// may still start first, where the other does not fit.

#include <optional>

#include "common/knobs.h"
#include "server/model/cluster_state.h"

namespace hai {

// How many waiting jobs of its node group may run and come before it; nullopt if it may not run
// itself (held, dependencies, begin_at) or has nodes held for it already. The usage of users is
// what has been settled: attempts that run count when they end.
std::optional<int> jobs_before(const ClusterState& state, const Knobs& knobs, UnixTime now,
                               JobId job);

}  // namespace hai
