#include "server/control/attempt/array_flow.h"

#include <algorithm>

#include "common/array_range.h"
#include "server/plan/eligible.h"

namespace hai {
namespace {

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
  const int count = std::min(tasks_max, tasks_to_make(decision, array, range));
  if (count > 0) {
    auto spec = std::make_shared<JobSpec>(*array.spec);
    spec->array.clear();
    spec->depends_on.clear();  // the array has waited for them
    spec->begin_at.reset();
    spec->priority = array.priority;
    const std::string user = array.user;
    const int made = array.array.made;
    for (int i = made; i < made + count; ++i) {
      decision.emit(JobSubmitted{.job = JobId{state.last_job().value + 1},
                                 .user = user,
                                 .request_id = "",
                                 .spec = spec,
                                 .dependencies = {},
                                 .array_task = ArrayTask{id, range.at(i)}});
    }
  }
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
