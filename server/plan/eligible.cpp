#include "server/plan/eligible.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/array_range.h"
#include "server/model/find_job.h"

namespace hai {

std::string_view awaited(DependencyCondition condition) {
  switch (condition) {
    case DependencyCondition::afterok:
      return "to succeed";
    case DependencyCondition::afterany:
      return "to end";
    case DependencyCondition::afternotok:
      return "to fail";
    case DependencyCondition::after:
      return "to start";
    case DependencyCondition::singleton:
      return "of the same name to end";
    case DependencyCondition::aftercorr:
      return "to succeed, task by task";
  }
  return "to succeed";
}

// Only these two conditions can fail, and each in one way.
std::string failed_dependency_text(const ClusterState& state, const Job& job) {
  const JobId id = job.failed_dependency;
  const auto wants_failure = [&](const Dependency& each) {
    return each.job == id && each.condition == DependencyCondition::afternotok;
  };
  if (std::ranges::any_of(job.unmet_dependencies, wants_failure)) {
    return fmt::format("job {}, which had to fail first (afternotok), has succeeded",
                       shown_id(state, id));
  }
  const Job* other = state.find(id);
  return fmt::format("job {}, which must succeed first (afterok), {}", shown_id(state, id),
                     other == nullptr ? "did not" : fmt::format("has {}", to_string(other->state)));
}

std::string backoff_text(const Job& job, UnixTime restart) {
  const bool is_launch = job.attempt->end->infrastructure;
  return fmt::format("it {} {} time{}; it is started again at {}",
                     is_launch ? "could not start" : "failed",
                     is_launch ? job.launch_failures : job.failure_restarts,
                     is_launch || job.failure_restarts > 1 ? "s" : "", format_rfc3339(restart));
}

// "runs 20 of its 500 tasks; 80 wait, 200 have ended (3 failed), 200 are still to come"
std::string array_text(const ClusterState& state, const Job& job) {
  const ArrayCounts& counts = job.array;
  const auto [waiting, held] = state.waiting_tasks(job.id);
  const int tasks = ArrayRange::parse(job.spec->array).value().count();
  const int ended = counts.succeeded + counts.failed + counts.stopped;
  const std::string held_text = held > 0 ? fmt::format(" ({} held)", held) : "";
  std::string text = fmt::format("runs {} of its {} tasks; {} wait{}, {} have ended",
                                 counts.unfinished - waiting, tasks, waiting, held_text, ended);
  if (counts.failed > 0) text += fmt::format(" ({} failed)", counts.failed);
  if (counts.made < tasks) text += fmt::format(", {} are still to come", tasks - counts.made);
  for (const Dependency& each : job.unmet_dependencies) {
    text += fmt::format("; each waits for the same task of array {}", each.job.value);
  }
  return text;
}

std::optional<PendingReason> not_eligible(const ClusterState& state, const Job& job, UnixTime now) {
  const User* user = state.find_user(job.user);
  if (user == nullptr || !user->active) {
    return PendingReason{PendingCode::user_inactive,
                         fmt::format("user {} is not active", job.user)};
  }
  if (job.is_held_by_limit()) {
    return PendingReason{PendingCode::array, job.hold_reason};
  }
  if (job.held) {
    return PendingReason{PendingCode::held, job.hold_reason.empty() ? "held" : job.hold_reason};
  }
  if (job.failed_dependency) {
    return PendingReason{
        PendingCode::dependency_failed,
        fmt::format("{}; stop this job or rerun that one (hai rerun {})",
                    failed_dependency_text(state, job), shown_id(state, job.failed_dependency))};
  }
  // Pairs are waited for by the array's tasks, not by the array.
  const auto holds_up = [](const Dependency& each) {
    return each.condition != DependencyCondition::aftercorr;
  };
  const auto first = std::ranges::find_if(job.unmet_dependencies, holds_up);
  if (first != job.unmet_dependencies.end()) {
    const auto others = std::ranges::count_if(job.unmet_dependencies, holds_up) - 1;
    return PendingReason{PendingCode::dependency,
                         fmt::format("waits for job {} {} ({}){}", shown_id(state, first->job),
                                     awaited(first->condition), to_string(first->condition),
                                     others > 0 ? fmt::format(" and {} more", others) : "")};
  }
  if (const auto restart = job.restarts_at(); restart && *restart > now) {
    return PendingReason{PendingCode::backoff, backoff_text(job, *restart)};
  }
  if (job.spec->begin_at && *job.spec->begin_at > now) {
    return PendingReason{PendingCode::begin_time,
                         fmt::format("begins at {}", format_rfc3339(*job.spec->begin_at))};
  }
  if (job.is_array()) return PendingReason{PendingCode::array, array_text(state, job)};
  return std::nullopt;
}

int64_t quota_units(const ClusterState& state, const JobSpec& spec) {
  int gpus_of_node = spec.gpus_per_node <= 0 ? 0 : state.gpus_of_largest_node(spec.group);
  return ClusterState::node_units(spec.node_count, spec.gpus_per_node, gpus_of_node);
}

}  // namespace hai
