#include "server/plan/eligible.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {
namespace {

std::string format_units(int64_t units) {
  int64_t whole = units / ClusterState::kNodeUnit;
  int64_t rest = units % ClusterState::kNodeUnit;
  return rest == 0 ? fmt::format("{}", whole)
                   : fmt::format("{:.3g}", static_cast<double>(units) / ClusterState::kNodeUnit);
}

PendingReason quota_reason(const ClusterState& state, const QuotaLedger& ledger, const User& user,
                           const Job& job, Priority level, int64_t units) {
  int64_t nodes = state.quota_nodes(user, job.spec->group, level).value_or(0);
  return {PendingCode::quota,
          fmt::format("quota of {} in {}/{}: {} nodes, {} used, {} asked", user.name,
                      job.spec->group, to_string(level), nodes,
                      format_units(ledger.used_units(user.name, job.spec->group, level)),
                      format_units(units))};
}

}  // namespace

bool QuotaLedger::has_room(const User& user, const std::string& group, Priority level,
                           int64_t units) const {
  int64_t nodes = state_.quota_nodes(user, group, level).value_or(0);
  if (nodes >= Quota::kUnlimited) return true;
  return used_units(user.name, group, level) + units <= nodes * ClusterState::kNodeUnit;
}

void QuotaLedger::use(const std::string& user, const std::string& group, Priority level,
                      int64_t units) {
  extra_[{user, group, level}] += units;
}

int64_t QuotaLedger::used_units(const std::string& user, const std::string& group,
                                Priority level) const {
  auto it = extra_.find({user, group, level});
  return state_.used_node_units(user, group, level) + (it == extra_.end() ? 0 : it->second);
}

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

std::optional<Priority> effective_level(const QuotaLedger& ledger, const User& user, const Job& job,
                                        int64_t units, PendingReason* reason) {
  const ClusterState& state = ledger.state();
  if (job.priority != Priority::automatic) {
    if (ledger.has_room(user, job.spec->group, job.priority, units)) return job.priority;
    *reason = quota_reason(state, ledger, user, job, job.priority, units);
    return std::nullopt;
  }
  Priority highest = Priority::low;
  for (Priority level : kPriorities) {
    if (level > kAutoCeiling) continue;
    if (ledger.has_room(user, job.spec->group, level, units)) return level;
    highest = std::max(highest, level);
  }
  *reason = quota_reason(state, ledger, user, job, highest, units);
  reason->text += "; lower levels are used up too";
  return std::nullopt;
}

int64_t quota_units(const ClusterState& state, const JobSpec& spec) {
  int gpus_of_node = 0;
  if (spec.gpus_per_node != 0) {
    for (const auto& [id, node] : state.nodes()) {
      if (node.facts.group == spec.group) gpus_of_node = std::max(gpus_of_node, node.facts.gpus);
    }
  }
  return ClusterState::node_units(spec.node_count, spec.gpus_per_node, gpus_of_node);
}

}  // namespace hai
