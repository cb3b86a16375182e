// RandomCluster, about arrays: their tasks are made one by one, and they end with the last.

#include <array>

#include "tests/support/random_cluster.h"

namespace hai::test {

void RandomCluster::change_array(const Job& job) {
  const ArrayRange range = state_.unfinished_arrays().at(job.id);
  const int next = job.array.next();
  if (next < range.count() && rng_.chance(0.2)) {
    // Mostly the next one; sometimes one that somebody names before it is its turn.
    int index = range.at(next);
    const int other = range.at(next + static_cast<int>(rng_.below(range.count() - next)));
    if (rng_.chance(0.3) && !job.array.is_made(range, other)) index = other;
    JobSpec spec = *job.spec;
    spec.array.clear();
    return emit(JobSubmitted{.job = JobId{state_.last_job().value + 1},
                             .user = job.user,
                             .request_id = "",
                             .spec = std::make_shared<const JobSpec>(std::move(spec)),
                             .dependencies = {},
                             .array_task = ArrayTask{job.id, index}});
  }
  if (job.array.unfinished > 0) return;
  constexpr std::array kEnds = {JobState::succeeded, JobState::failed, JobState::stopped};
  emit(JobFinished{job.id, kEnds[rng_.below(kEnds.size())], 0, text()});
}

}  // namespace hai::test
