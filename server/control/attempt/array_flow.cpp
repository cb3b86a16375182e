#include "server/control/attempt/array_flow.h"

#include <algorithm>
#include <ranges>

#include "common/array_range.h"
#include "server/control/attempt/attribution.h"
#include "server/plan/eligible.h"

namespace hai {
namespace {

bool waits_in_pairs(const JobSpec& spec) {
  const std::string start = fmt::format("{}:", to_string(DependencyCondition::aftercorr));
  return std::ranges::any_of(spec.depends_on,
                             [&](const std::string& word) { return word.starts_with(start); });
}

// Limited by what may be unfinished at once, and by how many jobs its user may have.
int tasks_to_make(const Decision& decision, const Job& array, const ArrayRange& range) {
  const ClusterState& state = decision.state();
  if (array.stop_requested) return 0;
  const auto reason = not_eligible(state, array, decision.now());
  if (!reason || reason->code != PendingCode::array) return 0;
  const ClusterState::WaitingTasks waiting = state.waiting_tasks(array.id);
  int count =
      std::min(range.count() - array.array.made, kTasksAhead - (waiting.all - waiting.held));
  count = std::min(count, room_in(state, array));
  // One task there is always: arrays alone must not use up what their tasks need.
  const int64_t least = array.array.unfinished == 0 ? 1 : 0;
  const int64_t room = std::max<int64_t>(
      least, decision.knobs().max_unfinished_jobs_per_user - state.unfinished_count(array.user));
  return static_cast<int>(std::min<int64_t>(count, room));
}

// What a task waits for of its counterparts (aftercorr); nullopt while one of them is not made.
struct Pairs {
  std::vector<Dependency> unmet;
  bool is_in_vain = false;  // one of them did not succeed
};

// `may_still_succeed`: asked of one that has failed.
template <typename MayStillSucceed>
std::optional<Pairs> pairs_of(const ClusterState& state, const Job& array, int index,
                              MayStillSucceed may_still_succeed) {
  Pairs pairs;
  pairs.is_in_vain = array.array.gaps && contains(array.array.gaps->in_vain, index);
  for (const Dependency& each : array.unmet_dependencies) {
    if (each.condition != DependencyCondition::aftercorr) continue;
    const Job& other = *state.find(each.job);
    const Job* task = state.find_task({other.id, index});
    if (task != nullptr && (!task->is_terminal() || may_still_succeed(*task))) {
      pairs.unmet.push_back({task->id, DependencyCondition::afterok});
      continue;
    }
    if (other.array.gaps && contains(other.array.gaps->without_success, index)) {
      pairs.is_in_vain = true;
      continue;
    }
    const ArrayRange& theirs = state.unfinished_arrays().at(other.id);
    if (!other.array.is_made(theirs, index)) return std::nullopt;  // else it has ended, and well
  }
  return pairs;
}

// What a task is made with: one that has failed may be opened again for some minutes.
std::optional<Pairs> pairs_of(const Decision& decision, const Job& array, int index) {
  return pairs_of(decision.state(), array, index,
                  [&](const Job& task) { return may_be_opened_again(decision, task); });
}

void end_in_vain(Decision& decision, JobId task) {
  const int index = decision.state().find(task)->array_task->index;
  decision.emit(JobFinished{
      task, JobState::stopped, 0,
      fmt::format("task {} of the array that it waits for did not succeed (aftercorr); run that "
                  "one again, then this one",
                  index)});
}

// Whether a counterpart of the task did not succeed, for good. What its array waits for, too, is no
// counterpart: that waits until somebody runs it again.
bool waits_in_vain(const Decision& decision, const Job& array, const Job& task) {
  const auto& of_array = array.unmet_dependencies;
  return std::ranges::any_of(task.unmet_dependencies, [&](const Dependency& each) {
    if (std::ranges::find(of_array, each) != of_array.end()) return false;
    const Job* other = decision.state().find(each.job);
    return other == nullptr || (other->is_terminal() && !may_be_opened_again(decision, *other));
  });
}

// Of tasks that wait for their counterparts: one that waits in vain would hold up its array.
void end_tasks_in_vain(Decision& decision, const Job& array) {
  const ClusterState& state = decision.state();
  for (JobId id : state.unfinished_tasks(array.id)) {
    const Job& task = *state.find(id);
    if (!task.is_waiting() || task.reservation) continue;
    if (waits_in_vain(decision, array, task)) end_in_vain(decision, id);
  }
}

// For what the array has waited, its tasks do not wait.
std::shared_ptr<JobSpec> spec_of_tasks(const Job& array) {
  auto spec = std::make_shared<JobSpec>(*array.spec);
  spec->array.clear();
  spec->depends_on.clear();
  spec->begin_at.reset();
  spec->priority = array.priority;
  return spec;
}

JobId submit_task(Decision& decision, const Job& array, int index,
                  std::shared_ptr<const JobSpec> spec, std::vector<Dependency> dependencies) {
  const JobId task{decision.state().last_job().value + 1};
  decision.emit(JobSubmitted{.job = task,
                             .user = array.user,
                             .request_id = "",
                             .spec = std::move(spec),
                             .dependencies = std::move(dependencies),
                             .array_task = ArrayTask{array.id, index}});
  return task;
}

void make_tasks(Decision& decision, JobId id, const ArrayRange& range, int count) {
  const ClusterState& state = decision.state();
  const std::shared_ptr<const JobSpec> spec = spec_of_tasks(*state.find(id));
  for (int i = 0; i < count; ++i) {
    const Job& array = *state.find(id);
    const int index = range.at(array.array.next());
    std::optional<Pairs> pairs = pairs_of(decision, array, index);
    if (!pairs) return;
    const JobId task = submit_task(decision, array, index, spec, std::move(pairs->unmet));
    if (pairs->is_in_vain) end_in_vain(decision, task);
  }
}

// Of tasks that are made: as many wait unheld as the array's limit leaves room for. Those with the
// lowest indices go first, but whoever was interrupted before those who never ran.
void keep_limit(Decision& decision, const Job& array) {
  const ClusterState& state = decision.state();
  int room = room_in(state, array);
  const bool has_held = state.waiting_tasks(array.id).held > 0;
  if (room == 0 || (room > 0 && !has_held)) return;
  std::vector<JobId> tasks = state.unfinished_tasks(array.id);
  std::ranges::stable_partition(tasks,
                                [&](JobId id) { return state.find(id)->attempt.has_value(); });
  for (auto it = tasks.begin(); room > 0 && it != tasks.end(); ++it) {
    if (!state.find(*it)->is_held_by_limit()) continue;
    decision.emit(JobReleased{*it});
    --room;
  }
  for (auto it = tasks.rbegin(); room < 0 && it != tasks.rend(); ++it) {
    const Job& task = *state.find(*it);
    if (task.held || !task.is_waiting()) continue;
    if (task.reservation) decision.emit(ReservationDropped{*it, std::string(Job::kOverLimit)});
    decision.emit(JobHeld{*it, std::string(Job::kOverLimit)});
    ++room;
  }
}

void end_array(Decision& decision, const Job& array, int tasks) {
  const ArrayCounts& counts = array.array;
  const JobState state = array.stop_requested   ? JobState::stopped
                         : counts.failed > 0    ? JobState::failed
                         : counts.succeeded > 0 ? JobState::succeeded
                                                : JobState::stopped;
  std::string text = fmt::format("{} of {} tasks succeeded", counts.succeeded, tasks);
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  if (counts.stopped > 0) text += fmt::format(", {} stopped", counts.stopped);
  if (counts.made < tasks) text += fmt::format(", {} never made", tasks - counts.made);
  decision.emit(JobFinished{array.id, state, state == JobState::failed ? 1 : 0, std::move(text)});
}

}  // namespace

int room_in(const ClusterState& state, const Job& array) {
  const ArrayRange& range = state.unfinished_arrays().at(array.id);
  if (range.limit() == 0) return range.count();
  return range.limit() - (array.array.unfinished - state.waiting_tasks(array.id).held);
}

Status check_task(const ClusterState& state, const Job& array, int index) {
  const int64_t id = array.id.value;
  if (!array.is_array()) return not_found("job {} is no array", id);
  const ArrayRange range = ArrayRange::parse(array.spec->array).value();
  if (!range.contains(index)) {
    return not_found("array {} has no task {}: its tasks are {}", id, index, range.text_from(0));
  }
  if (array.array.is_made(range, index)) {
    return failed_precondition("task {} of array {} has ended", index, id);
  }
  if (array.is_terminal()) {
    return failed_precondition("task {} of array {} was never made, and the array has {}", index,
                               id, to_string(array.state));
  }
  if (array.stop_requested) {
    return failed_precondition("array {} is being stopped: its task {} is not made any more", id,
                               index);
  }
  if (array.failed_dependency) {
    return failed_precondition("array {} waits in vain: {}", id,
                               failed_dependency_text(state, array));
  }
  const std::optional<Pairs> pairs =
      pairs_of(state, array, index, [](const Job&) { return false; });
  if (pairs && pairs->is_in_vain) {
    return failed_precondition(
        "task {} of array {} waits in vain: the same task of the array that it waits for did not "
        "succeed (aftercorr); run that one again",
        index, id);
  }
  if (pairs) return ok();
  return failed_precondition(
      "task {} of array {} waits for the same task of another array (aftercorr), which is not made "
      "yet: name that one first",
      index, id);
}

JobId make_task(Decision& decision, JobId id, int index) {
  const ClusterState& state = decision.state();
  const Job& array = *state.find(id);
  const std::shared_ptr<JobSpec> spec = spec_of_tasks(array);
  spec->begin_at = array.spec->begin_at;
  Pairs pairs = pairs_of(decision, array, index).value();
  for (const Dependency& each : array.unmet_dependencies) {
    if (each.condition != DependencyCondition::aftercorr) pairs.unmet.push_back(each);
  }
  const bool has_room = room_in(state, array) > 0;
  const std::string hold = array.held ? array.hold_reason : std::string(Job::kOverLimit);
  const bool is_held = array.held || !has_room;
  const JobId task = submit_task(decision, array, index, spec, std::move(pairs.unmet));
  if (is_held) decision.emit(JobHeld{task, hold});
  return task;
}

void release(Decision& decision, const Job& job) {
  if (!job.held || job.is_held_by_limit()) return;
  const ClusterState& state = decision.state();
  const Job* array = job.array_task ? state.find(job.array_task->array) : nullptr;
  // One with an attempt that has not ended has its place.
  if (array == nullptr || job.has_live_attempt() || room_in(state, *array) > 0) {
    decision.emit(JobReleased{job.id});
  } else {
    decision.emit(JobHeld{job.id, std::string(Job::kOverLimit)});
  }
}

void advance_array(Decision& decision, JobId id, int tasks_max) {
  const ClusterState& state = decision.state();
  const Job& array = *state.find(id);
  const ArrayRange range = state.unfinished_arrays().at(id);
  if (waits_in_pairs(*array.spec)) end_tasks_in_vain(decision, array);
  keep_limit(decision, array);
  const int count = std::min(tasks_max, tasks_to_make(decision, *state.find(id), range));
  if (count > 0) make_tasks(decision, id, range, count);
  const Job& now = *state.find(id);
  const bool has_all = now.array.made == range.count() || now.stop_requested;
  if (has_all && now.array.unfinished == 0) end_array(decision, now, range.count());
}

int tasks_at_submit(const JobSpec& spec) {
  const int64_t room = kTaskTextBytesAtSubmit / std::max<int64_t>(1, text_bytes(spec));
  return static_cast<int>(std::clamp<int64_t>(room, 1, kTasksAtSubmit));
}

void decide_arrays(Decision& decision) {
  const auto ids = std::views::keys(decision.state().unfinished_arrays());
  const std::vector<JobId> arrays(ids.begin(), ids.end());  // one that ends leaves them
  if (arrays.empty()) return;
  const auto count = static_cast<int>(arrays.size());
  const int share = std::clamp(kTasksMadeInAll / count, 1, kTasksMadeAtOnce);
  const int64_t end = decision.text_bytes() + kTaskTextBytes;
  std::vector<JobId> large;  // one task is more than their share of the bytes
  for (JobId id : arrays) {
    const int64_t bytes = std::max<int64_t>(1, text_bytes(*decision.state().find(id)->spec));
    const int tasks = static_cast<int>(std::min<int64_t>(share, kTaskTextBytes / count / bytes));
    advance_array(decision, id, tasks);
    if (tasks == 0) large.push_back(id);
  }
  // One each as long as there is room: first to those of which fewest wait, then to those that have
  // come least far.
  std::ranges::stable_sort(large, {}, [&](JobId id) {
    const ClusterState& state = decision.state();
    return std::pair(state.waiting_tasks(id).all, state.find(id)->array.made);
  });
  for (JobId id : large) {
    if (decision.text_bytes() >= end) return;
    if (decision.state().unfinished_arrays().contains(id)) advance_array(decision, id, 1);
  }
}

}  // namespace hai
