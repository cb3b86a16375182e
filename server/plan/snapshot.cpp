#include "server/plan/snapshot.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "server/plan/ledger.h"
#include "server/plan/waiting.h"

namespace hai {
namespace {

// Of a longer queue the part with the highest priorities is looked at.
constexpr size_t kExaminedMax = 20'000;

// Without what programs and people have written: it may be long. So may the gaps of an array.
Job slim(const Job& job, bool with_gaps) {
  Job copy;
  copy.id = job.id;
  copy.user = job.user;
  copy.spec = job.spec;
  copy.priority = job.priority;
  copy.state = job.state;
  copy.held = job.held;
  copy.hold_reason = job.hold_reason;
  copy.stop_requested = job.stop_requested;
  copy.submitted_at = job.submitted_at;
  copy.waiting_since = job.waiting_since;
  copy.custom_rank = job.custom_rank;
  copy.started_at = job.started_at;
  copy.ended_at = job.ended_at;
  copy.unmet_dependencies = job.unmet_dependencies;
  copy.failed_dependency = job.failed_dependency;
  if (job.has_live_attempt()) {
    copy.attempt = job.attempt;
  } else if (job.attempt) {
    Attempt& last = copy.attempt.emplace();
    last.number = job.attempt->number;
    last.state = job.attempt->state;
    last.priority = job.attempt->priority;
    last.ranks = job.attempt->ranks;
    last.ended_at = job.attempt->ended_at;
    if (job.attempt->end) last.end = AttemptEnd{.infrastructure = job.attempt->end->infrastructure};
  }
  copy.reservation = job.reservation;
  if (job.checkpoint) {
    copy.checkpoint =
        CheckpointInfo{.save_seconds = job.checkpoint->save_seconds, .at = job.checkpoint->at};
  }
  copy.avoid = job.avoid;
  copy.gpu_seconds = job.gpu_seconds;
  copy.failure_restarts = job.failure_restarts;
  copy.launch_failures = job.launch_failures;
  copy.array_task = job.array_task;
  copy.array = {.made = job.array.made,
                .unfinished = job.array.unfinished,
                .succeeded = job.array.succeeded,
                .failed = job.array.failed,
                .stopped = job.array.stopped,
                .gaps = with_gaps ? job.array.gaps : std::nullopt};
  return copy;
}

std::set<JobId> arrays_with_pairs(const ClusterState& state, const std::vector<JobId>& arrays) {
  std::set<JobId> found(arrays.begin(), arrays.end());
  for (JobId id : arrays) {
    const Job* array = state.find(id);
    if (array == nullptr) continue;
    for (const Dependency& other : array->unmet_dependencies) {
      if (other.condition == DependencyCondition::aftercorr) found.insert(other.job);
    }
  }
  return found;
}

// Roughly the order of the planner: level, class, age.
std::vector<JobId> first_waiting(const ClusterState& state, const Knobs& knobs, UnixTime now,
                                 const SnapshotOptions& options) {
  std::vector<std::tuple<int, int, JobId>> queue;
  for (const auto& [order, id] : state.waiting()) {
    if (queue.size() == kExaminedMax) break;
    const Job& job = *state.find(id);
    if (job.held || job.reservation || job.is_array()) continue;
    const Priority level = job.priority == Priority::automatic ? kAutoCeiling : job.priority;
    UnixTime unused{};
    queue.emplace_back(-static_cast<int>(level), waiting_class(knobs, job, now, &unused), id);
  }
  if (queue.size() > options.waiting_max) {
    std::ranges::nth_element(queue, queue.begin() + static_cast<ptrdiff_t>(options.waiting_max));
    queue.resize(options.waiting_max);
  }
  std::vector<JobId> jobs;
  for (const auto& [level, feedback_class, id] : queue) jobs.push_back(id);
  return jobs;
}

}  // namespace

StoredState copy_for_planning(const ClusterState& state, const Knobs& knobs, UnixTime now,
                              const SnapshotOptions& options) {
  StoredState copy{
      .epoch = state.epoch(), .last_seq = state.last_seq(), .last_job = state.last_job()};
  const auto& secrets = state.secrets();
  for (auto at = secrets.lower_bound({options.secrets_of, ""});
       at != secrets.end() && at->first.first == options.secrets_of; ++at) {
    copy.secrets.push_back({.user = at->first.first, .name = at->first.second, .sealed = ""});
  }
  copy.nodes.reserve(state.nodes().size());
  for (const auto& [id, node] : state.nodes()) {
    Node& bare = copy.nodes.emplace_back();
    bare.id = id;
    bare.facts = node.facts;
    bare.liveness = node.liveness;
    bare.liveness_reason = node.liveness_reason;
    bare.scheduling = node.scheduling;
    bare.scheduling_reason = node.scheduling_reason;
    bare.scheduling_by = node.scheduling_by;
    bare.removed_at = node.removed_at;
  }
  for (const auto& [name, user] : state.users()) copy.users.push_back(user);
  for (const auto& [key, quota] : state.quotas()) copy.quotas.push_back(quota);

  std::vector<JobId> ids(state.live().begin(), state.live().end());
  ids.insert(ids.end(), state.reserved().begin(), state.reserved().end());
  const std::vector<JobId> waiting = first_waiting(state, knobs, now, options);
  ids.insert(ids.end(), waiting.begin(), waiting.end());
  ids.insert(ids.end(), options.also.begin(), options.also.end());
  if (options.focus) ids.push_back(options.focus);
  const std::set<JobId> arrays = arrays_with_pairs(state, options.arrays);
  for (JobId array : arrays) {
    const std::vector<JobId> tasks = state.unfinished_tasks(array);
    ids.push_back(array);
    ids.insert(ids.end(), tasks.begin(), tasks.end());
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::set<JobId> missing;  // what others wait for and is not among them
  copy.jobs.reserve(ids.size());
  auto add = [&](JobId id) {
    const Job* job = state.find(id);
    if (job == nullptr) return;
    copy.jobs.push_back(slim(*job, arrays.contains(id)));
    for (const Dependency& other : job->unmet_dependencies) {
      if (!std::ranges::binary_search(ids, other.job)) missing.insert(other.job);
    }
  };
  for (JobId id : ids) add(id);
  std::set<JobId> added;
  while (!missing.empty()) {
    const JobId id = *missing.begin();
    missing.erase(missing.begin());
    if (added.insert(id).second) add(id);
  }
  return copy;
}

}  // namespace hai
