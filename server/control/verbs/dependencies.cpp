#include "server/control/verbs/dependencies.h"

#include <algorithm>
#include <set>

#include "common/array_range.h"
#include "common/whole_number.h"
#include "server/control/attempt/array_flow.h"
#include "server/model/dependency_fate.h"
#include "server/model/find_job.h"

namespace hai {
namespace {

constexpr size_t kInLineMax = 100;  // singletons of one name

// An unfinished job may have the name of one that ended before.
std::optional<EndedJob> find_ended(const ClusterState& state, const std::string& user,
                                   const std::string& text, const std::vector<EndedJob>& history) {
  const std::optional<int64_t> id = whole_number(text);
  const std::optional<ArrayTask> task = parse_array_task(text);
  const auto is_meant = [&](const EndedJob& ended) {
    if (id) return ended.id.value == *id;
    return (task && ended.task == task) || (ended.user == user && ended.name == text);
  };
  for (const EndedJob& ended : history) {
    if (!is_meant(ended)) continue;
    // It may have been read before it ended, and what is in memory is newer.
    const Job* job = state.find(ended.id);
    if (job == nullptr) return is_terminal(ended.state) ? std::optional(ended) : std::nullopt;
    return EndedJob{job->id, job->user, job->spec->name, job->state};
  }
  return std::nullopt;
}

Status unknown_job(const ClusterState& state, const std::string& text) {
  const std::optional<int64_t> id = whole_number(text);
  if (const auto task = parse_array_task(text)) {
    return not_found(
        "options.depends_on: array {} has no task {} that is known here; what became of one that "
        "ended long ago is not, leave it out",
        task->array.value, task->index);
  }
  if (!id) {
    return not_found(
        "options.depends_on: you have no job named {}; a job can wait only for those that were "
        "submitted before it",
        text);
  }
  if (*id > state.last_job().value || *id < 1) {
    return not_found(
        "options.depends_on: job {} does not exist; a job can wait only for those that were "
        "submitted before it",
        text);
  }
  return not_found(
      "options.depends_on: job {} has ended long ago, and what became of it is not known here any "
      "more; leave it out",
      text);
}

Status not_ones_own(JobId id, const std::string& owner) {
  return permission_denied(
      "options.depends_on: job {} belongs to {}; a job can wait only for those of its own user",
      id.value, owner);
}

Status cannot_be_met(const DependencyWord& word, JobId id, JobState state) {
  return failed_precondition(
      "options.depends_on: job {} has {}, so that {} can never be met; leave it out, or wait for "
      "afterany",
      id.value, to_string(state), to_string(word.condition));
}

Status is_no_array(const std::string& job) {
  return failed_precondition(
      "options.depends_on: job {} is no array; aftercorr pairs the tasks of two arrays", job);
}

// Of an array in memory, one that is still to come.
std::optional<ArrayTask> unmade_task(const ClusterState& state, const std::string& text) {
  const std::optional<ArrayTask> task = parse_array_task(text);
  if (!task || state.find_task(*task) != nullptr) return std::nullopt;
  const auto array = state.unfinished_arrays().find(task->array);
  if (array == state.unfinished_arrays().end()) return std::nullopt;
  const ArrayRange& range = array->second;
  const bool is_to_come =
      range.contains(task->index) && !state.find(task->array)->array.is_made(range, task->index);
  return is_to_come ? task : std::nullopt;
}

// Whether each task has its counterpart. Of an array that has left memory nothing is asked: all of
// its tasks have succeeded, or the submit is refused for that.
Status can_be_paired(const JobSpec& spec, const Job& other) {
  const int64_t id = other.id.value;
  if (!other.is_array()) return is_no_array(std::to_string(id));
  const ArrayRange theirs = ArrayRange::parse(other.spec->array).value();
  const int alone = ArrayRange::parse(spec.array).value().missing_in(theirs);
  if (alone >= 0) {
    return failed_precondition(
        "options.depends_on: array {} has no task {}, which aftercorr pairs with task {} of this "
        "one",
        id, alone, alone);
  }
  const ArrayCounts& counts = other.array;
  const int64_t known = counts.gaps ? count_of(counts.gaps->without_success) : 0;
  if (known == counts.failed + counts.stopped) return ok();
  return failed_precondition(
      "options.depends_on: tasks of array {} failed under an earlier version, which did not keep "
      "which; wait for the whole array",
      id);
}

void add(std::vector<Dependency>& unmet, Dependency dependency) {
  if (std::ranges::find(unmet, dependency) == unmet.end()) unmet.push_back(dependency);
}

// Directly or by way of others.
bool waits_for(const ClusterState& state, JobId waiting, JobId other) {
  std::set<JobId> seen;
  std::vector<JobId> left{waiting};
  while (!left.empty()) {
    const Job* job = state.find(left.back());
    left.pop_back();
    if (job == nullptr || job->is_terminal()) continue;
    for (const Dependency& each : job->unmet_dependencies) {
      if (each.job == other) return true;
      if (seen.insert(each.job).second) left.push_back(each.job);
    }
  }
  return false;
}

Status add_singleton(const ClusterState& state, const std::string& user, const JobSpec& spec,
                     std::optional<JobId> rerun_of, std::vector<Dependency>& unmet) {
  std::vector<JobId> earlier = state.all_unfinished(user, spec.name);
  // The array of a task ends after it.
  std::erase_if(earlier, [&](JobId id) { return state.find(id)->array_task.has_value(); });
  if (earlier.size() >= kInLineMax) {
    return resource_exhausted("options.depends_on: {} of your jobs named {} are in line already",
                              earlier.size(), spec.name);
  }
  for (JobId id : earlier) {
    if (rerun_of && waits_for(state, id, *rerun_of)) continue;
    add(unmet, {id, DependencyCondition::singleton});
  }
  return ok();
}

}  // namespace

std::vector<std::string> dependency_jobs(const JobSpec& spec) {
  std::vector<std::string> jobs;
  for (const std::string& text : spec.depends_on) {
    const Result<DependencyWord> word = parse_dependency(text);
    if (word.is_ok() && !word.value().job.empty()) jobs.push_back(word.value().job);
  }
  return jobs;
}

bool is_singleton(const JobSpec& spec) {
  return std::ranges::find(spec.depends_on, to_string(DependencyCondition::singleton)) !=
         spec.depends_on.end();
}

Result<std::vector<Dependency>> resolve_dependencies(const ClusterState& state,
                                                     const std::string& user, const JobSpec& spec,
                                                     const std::vector<EndedJob>& history,
                                                     std::optional<JobId> rerun_of) {
  std::vector<Dependency> unmet;
  for (const std::string& text : spec.depends_on) {
    const Result<DependencyWord> parsed = parse_dependency(text);
    if (!parsed.is_ok()) {
      return invalid_argument("options.depends_on: {}", parsed.status().message());
    }
    const DependencyWord& word = parsed.value();
    if (word.condition == DependencyCondition::singleton) {
      RETURN_IF_ERROR(add_singleton(state, user, spec, rerun_of, unmet));
      continue;
    }
    const bool is_pair = word.condition == DependencyCondition::aftercorr;
    if (is_pair && spec.array.empty()) {
      return invalid_argument(
          "options.depends_on: aftercorr pairs the tasks of two arrays, and this is none");
    }
    std::optional<EndedJob> other;
    bool has_started = true;  // of one that has ended it does not matter
    if (const Job* job = find_job(state, user, word.job)) {
      other = EndedJob{job->id, job->user, job->spec->name, job->state};
      has_started = job->started_at.has_value();
    } else if (const auto task = unmade_task(state, word.job)) {
      const Job& array = *state.find(task->array);
      if (array.user != user) return not_ones_own(array.id, array.user);
      if (is_pair) return is_no_array(word.job);
      if (const Status status = check_task(state, array, task->index); !status.is_ok()) {
        return failed_precondition("options.depends_on: {}", status.message());
      }
      add(unmet, {array.id, word.condition});
      continue;
    } else {
      other = find_ended(state, user, word.job, history);
    }
    if (!other) return unknown_job(state, word.job);
    if (other->user != user) return not_ones_own(other->id, other->user);
    if (const Job* job = state.find(other->id); is_pair && job != nullptr) {
      RETURN_IF_ERROR(can_be_paired(spec, *job));
    }
    switch (fate_of(word.condition, other->state, has_started)) {
      case DependencyFate::met:
        break;
      case DependencyFate::open:
        add(unmet, {other->id, word.condition});
        break;
      case DependencyFate::never:
        return cannot_be_met(word, other->id, other->state);
    }
  }
  return unmet;
}

std::vector<ArrayTask> unmade_tasks(const ClusterState& state, const std::string& user,
                                    const JobSpec& spec) {
  std::vector<ArrayTask> tasks;
  for (const std::string& job : dependency_jobs(spec)) {
    if (find_job(state, user, job) != nullptr) continue;
    const auto task = unmade_task(state, job);
    if (task && std::ranges::find(tasks, *task) == tasks.end()) tasks.push_back(*task);
  }
  return tasks;
}

std::vector<std::string> dependencies_not_in_memory(const ClusterState& state,
                                                    const std::string& user, const JobSpec& spec) {
  std::vector<std::string> missing;
  for (std::string& job : dependency_jobs(spec)) {
    const bool is_known = find_job(state, user, job) != nullptr || unmade_task(state, job);
    if (!is_known) missing.push_back(std::move(job));
  }
  return missing;
}

}  // namespace hai
