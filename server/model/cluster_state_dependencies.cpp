// ClusterState, the part about jobs that wait for others.

#include <algorithm>
#include <set>

#include "common/array_range.h"
#include "server/model/cluster_state.h"
#include "server/model/dependency_fate.h"

namespace hai {

DependencyFate fate_of(DependencyCondition condition, JobState state, bool has_started) {
  const auto met_if = [](bool is_met) {
    return is_met ? DependencyFate::met : DependencyFate::never;
  };
  if (!is_terminal(state)) {
    return condition == DependencyCondition::after && has_started ? DependencyFate::met
                                                                  : DependencyFate::open;
  }
  switch (condition) {
    case DependencyCondition::afterok:
      return met_if(state == JobState::succeeded);
    case DependencyCondition::afternotok:
      return met_if(state != JobState::succeeded);
    case DependencyCondition::afterany:
    case DependencyCondition::after:
    case DependencyCondition::singleton:
    case DependencyCondition::aftercorr:  // what it left its tasks is in the array's row
      break;
  }
  return DependencyFate::met;
}

void ClusterState::settle_dependents(const Job& other, UnixTime now) {
  const auto it = dependents_.find(other.id);
  if (it == dependents_.end()) return;
  const auto fate = [&](const Dependency& dependency) {
    if (dependency.job != other.id) return DependencyFate::open;
    return fate_of(dependency.condition, other.state, other.started_at.has_value());
  };
  for (JobId waiting : std::set<JobId>(it->second)) {
    const auto& unmet = find(waiting)->unmet_dependencies;
    const auto is_decided = [&](const Dependency& each) {
      return fate(each) != DependencyFate::open;
    };
    if (std::ranges::none_of(unmet, is_decided)) continue;
    Job& dependent = job(waiting);
    unindex(dependent);
    note_pairs_in_vain(dependent, other);
    std::erase_if(dependent.unmet_dependencies,
                  [&](const Dependency& each) { return fate(each) == DependencyFate::met; });
    if (dependent.unmet_dependencies.empty()) dependent.waiting_since = now;
    index(dependent);
    if (std::ranges::any_of(dependent.unmet_dependencies, is_decided)) {
      dependent.failed_dependency = other.id;
    }
  }
}

// An array whose tasks waited for those of another one that has ended now: which of them wait in
// vain. The others made theirs in the order of their indices, but for those made early.
void ClusterState::note_pairs_in_vain(Job& dependent, const Job& other) {
  if (!other.is_array() || !other.is_terminal()) return;
  const auto is_pair = [&](const Dependency& each) {
    return each.job == other.id && each.condition == DependencyCondition::aftercorr;
  };
  if (std::ranges::none_of(dependent.unmet_dependencies, is_pair)) return;
  const ArrayRange range = ArrayRange::parse(other.spec->array).value();
  IndexSpans lost;
  if (other.array.next() < range.count()) add(lost, {range.at(other.array.next()), range.last()});
  if (other.array.gaps) {
    for (const IndexSpan& early : other.array.gaps->made_early) {
      for (int index = early.first; index <= early.last; ++index) remove(lost, index);
    }
    for (const IndexSpan& span : other.array.gaps->without_success) add(lost, span);
  }
  for (const IndexSpan& span : lost) add(dependent.array.noted_gaps().in_vain, span);
}

// Met ones leave the list at once, so one whose job has left memory can't be met any more.
void ClusterState::note_failed_dependency(Job& dependent) const {
  dependent.failed_dependency = {};
  for (const Dependency& each : dependent.unmet_dependencies) {
    const Job* other = find(each.job);
    if (other == nullptr || fate_of(each.condition, other->state, other->started_at.has_value()) ==
                                DependencyFate::never) {
      dependent.failed_dependency = each.job;
    }
  }
}

void ClusterState::wait_for_rerun(JobId old, JobId rerun) {
  const auto it = dependents_.find(old);
  if (it == dependents_.end()) return;
  const Job* ended = find(old);
  if (ended != nullptr && !ended->is_terminal()) return;  // it may still end as they hope
  for (JobId waiting : std::set<JobId>(it->second)) {
    Job& dependent = job(waiting);
    unindex(dependent);
    for (Dependency& each : dependent.unmet_dependencies) {
      if (each.job == old) each.job = rerun;
    }
    index(dependent);
    note_failed_dependency(dependent);
  }
}

}  // namespace hai
