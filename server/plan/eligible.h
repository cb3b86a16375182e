#pragma once
// Who may run at all, quota aside (plan/ledger.h): owner active, not held, dependencies met,
// begin_at passed, no failure that was just now.

#include <optional>

#include "server/model/cluster_state.h"
#include "server/model/reason.h"

namespace hai {

// Why the job may not run now, quota aside.
std::optional<PendingReason> not_eligible(const ClusterState& state, const Job& job, UnixTime now);

// Parts of such sentences. "to succeed": what is waited for.
std::string_view awaited(DependencyCondition condition);
// Of a job with one that can't be met: "job 7, which must succeed first (afterok), has failed".
std::string failed_dependency_text(const ClusterState& state, const Job& job);
// How far an array is; it never starts itself.
std::string array_text(const ClusterState& state, const Job& job);
std::string backoff_text(const Job& job, UnixTime restart);

// Quota units one rank set of this job takes, judged by the group's largest node.
int64_t quota_units(const ClusterState& state, const JobSpec& spec);

}  // namespace hai
