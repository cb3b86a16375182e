#pragma once
// The lives of jobs in the server's log, so that `journalctl HAI_JOB=7` tells them: submitted,
// placed, ended. All that happens is in the event log; these are a line for each beginning and end.

#include <vector>

#include "server/model/cluster_state.h"

namespace hai {

// Of durable events of this server's own term. `state` is the one after them.
void log_jobs(const std::vector<Event>& durable, const ClusterState& state);

}  // namespace hai
