#pragma once
// Who may run at all, quota aside (plan/ledger.h): owner active, not held, dependencies met,
// begin_at passed.

#include <optional>

#include "server/model/cluster_state.h"
#include "server/model/reason.h"

namespace hai {

// Why the job may not run now, quota aside.
std::optional<PendingReason> not_eligible(const ClusterState& state, const Job& job, UnixTime now);

// Quota units one rank set of this job takes, judged by the group's largest node.
int64_t quota_units(const ClusterState& state, const JobSpec& spec);

}  // namespace hai
