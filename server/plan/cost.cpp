#include "server/plan/cost.h"

#include <algorithm>

#include "server/plan/order.h"

namespace hai {
namespace {}  // namespace

Duration switch_time(const Job& job) {
  if (!job.checkpoint) return kAssumedRestart;
  const double save_seconds = std::clamp(job.checkpoint->save_seconds, 0.0, 3600.0);
  return Duration(static_cast<int64_t>(save_seconds * 1e6)) + kAssumedRestart;
}

Duration suspend_cost_per_gpu(const Job& job, const Knobs& knobs, UnixTime now) {
  const Attempt& attempt = *job.attempt;
  if (attempt.state == AttemptState::suspending || attempt.end) return Duration{0};
  Duration age{0};
  if (job.checkpoint) {
    const UnixTime since = std::max(attempt.running_at.value_or(now), job.checkpoint->at);
    age = std::max(Duration{0}, now - since);
  } else if (attempt.running_at) {
    // It can't lose more than it has done: else a silent job that has just begun would stand on the
    // work of one that reports.
    age =
        std::clamp(Duration(now - *attempt.running_at), Duration{0}, knobs.assumed_checkpoint_age);
  }
  return age + switch_time(job);
}

int64_t suspend_cost(const Job& job, const Knobs& knobs, UnixTime now) {
  return gpus_of(*job.attempt) * suspend_cost_per_gpu(job, knobs, now).count();
}

int64_t lost_gpu_seconds(const Job& job, UnixTime now) {
  const Attempt& attempt = *job.attempt;
  if (!attempt.running_at) return 0;
  UnixTime since = *attempt.running_at;
  if (job.checkpoint) since = std::max(since, job.checkpoint->at);
  if (now <= since) return 0;
  return gpus_of(attempt) * std::chrono::duration_cast<std::chrono::seconds>(now - since).count();
}

}  // namespace hai
