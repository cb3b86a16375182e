#include "server/plan/eligible.h"

#include <fmt/core.h>

namespace hai {
std::optional<PendingReason> not_eligible(const ClusterState& state, const Job& job, UnixTime now) {
  const User* user = state.find_user(job.user);
  if (user == nullptr || !user->active) {
    return PendingReason{PendingCode::user_inactive,
                         fmt::format("user {} is not active", job.user)};
  }
  if (job.held) {
    return PendingReason{PendingCode::held, job.hold_reason.empty() ? "held" : job.hold_reason};
  }
  if (job.failed_dependency) {
    return PendingReason{
        PendingCode::dependency_failed,
        fmt::format("job {}, which must succeed first, did not; stop this job or rerun that one",
                    job.failed_dependency.value)};
  }
  if (!job.unmet_dependencies.empty()) {
    return PendingReason{
        PendingCode::dependency,
        fmt::format("waits for job {} to succeed{}", job.unmet_dependencies[0].value,
                    job.unmet_dependencies.size() > 1
                        ? fmt::format(" and {} more", job.unmet_dependencies.size() - 1)
                        : "")};
  }
  if (job.spec->begin_at && *job.spec->begin_at > now) {
    return PendingReason{PendingCode::begin_time,
                         fmt::format("begins at {}", format_rfc3339(*job.spec->begin_at))};
  }
  return std::nullopt;
}

int64_t quota_units(const ClusterState& state, const JobSpec& spec) {
  int gpus_of_node = spec.gpus_per_node == 0 ? 0 : state.gpus_of_largest_node(spec.group);
  return ClusterState::node_units(spec.node_count, spec.gpus_per_node, gpus_of_node);
}

}  // namespace hai
