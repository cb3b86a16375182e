#include "server/control/attempt/array_flow.h"

#include <algorithm>

#include "common/array_range.h"
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
  int count =
      std::min(range.count() - array.array.made, kTasksAhead - state.waiting_tasks(array.id));
  if (range.limit() > 0) count = std::min(count, range.limit() - array.array.unfinished);
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

std::optional<Pairs> pairs_of(const ClusterState& state, const Job& array, int index) {
  Pairs pairs;
  pairs.is_in_vain = array.array.gaps && contains(array.array.gaps->in_vain, index);
  for (const Dependency& each : array.unmet_dependencies) {
    const Job& other = *state.find(each.job);
    if (other.array.gaps && contains(other.array.gaps->without_success, index)) {
      pairs.is_in_vain = true;
      continue;
    }
    const Job* task = state.find_task({other.id, index});
    if (task != nullptr && !task->is_terminal()) {
      pairs.unmet.push_back({task->id, DependencyCondition::afterok});
      continue;
    }
    const ArrayRange theirs = ArrayRange::parse(other.spec->array).value();
    const bool is_made = other.array.made > 0 && theirs.at(other.array.made - 1) >= index;
    if (!is_made) return std::nullopt;  // else it has ended, and well
  }
  return pairs;
}

void end_in_vain(Decision& decision, JobId task) {
  const int index = decision.state().find(task)->array_task->index;
  decision.emit(JobFinished{
      task, JobState::stopped, 0,
      fmt::format("task {} of the array that it waits for did not succeed (aftercorr); run that "
                  "one again, then this one",
                  index)});
}

// Of tasks that wait for their counterparts: one that waits in vain would hold up its array.
void end_tasks_in_vain(Decision& decision, const Job& array) {
  const ClusterState& state = decision.state();
  for (JobId id : state.unfinished_tasks(array.id)) {
    const Job& task = *state.find(id);
    if (task.failed_dependency && task.is_waiting() && !task.reservation) end_in_vain(decision, id);
  }
}

void make_tasks(Decision& decision, JobId id, const ArrayRange& range, int count) {
  const ClusterState& state = decision.state();
  const Job& array = *state.find(id);
  auto spec = std::make_shared<JobSpec>(*array.spec);
  spec->array.clear();
  spec->depends_on.clear();  // the array has waited for them
  spec->begin_at.reset();
  spec->priority = array.priority;
  const std::string user = array.user;
  const int made = array.array.made;
  for (int i = made; i < made + count; ++i) {
    const std::optional<Pairs> pairs = pairs_of(state, *state.find(id), range.at(i));
    if (!pairs) return;
    const JobId task{state.last_job().value + 1};
    decision.emit(JobSubmitted{.job = task,
                               .user = user,
                               .request_id = "",
                               .spec = spec,
                               .dependencies = pairs->unmet,
                               .array_task = ArrayTask{id, range.at(i)}});
    if (pairs->is_in_vain) end_in_vain(decision, task);
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

void advance_array(Decision& decision, JobId id, int tasks_max) {
  const ClusterState& state = decision.state();
  const Job& array = *state.find(id);
  const ArrayRange range = ArrayRange::parse(array.spec->array).value();
  if (waits_in_pairs(*array.spec)) end_tasks_in_vain(decision, array);
  const int count = std::min(tasks_max, tasks_to_make(decision, *state.find(id), range));
  if (count > 0) make_tasks(decision, id, range, count);
  const Job& now = *state.find(id);
  const bool has_all = now.array.made == range.count() || now.stop_requested;
  if (has_all && now.array.unfinished == 0) end_array(decision, now, range.count());
}

void decide_arrays(Decision& decision) {
  const std::set<JobId> arrays = decision.state().unfinished_arrays();
  if (arrays.empty()) return;
  const int share = std::max(1, kTasksMadeInAll / static_cast<int>(arrays.size()));
  for (JobId id : arrays) advance_array(decision, id, std::min(share, kTasksMadeAtOnce));
}

}  // namespace hai
