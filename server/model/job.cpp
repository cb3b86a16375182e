#include "server/model/job.h"

#include <tuple>

namespace hai {

bool Job::operator==(const Job& other) const {
  auto scalars = [](const Job& job) {
    return std::tie(job.id, job.user, job.request_id, job.priority, job.state, job.held,
                    job.hold_reason, job.stop_requested, job.submitted_at, job.waiting_since,
                    job.custom_rank, job.started_at, job.ended_at, job.unmet_dependencies,
                    job.failed_dependency, job.attempt, job.reservation, job.checkpoint,
                    job.whole_life_state, job.avoid, job.exit_code, job.end_reason,
                    job.suspend_count, job.requeue_count, job.vain_requeues, job.launch_failures, job.failure_restarts,
                    job.lost_gpu_seconds, job.gpu_seconds, job.checkpoint_gap);
  };
  return *spec == *other.spec && scalars(*this) == scalars(other);
}

}  // namespace hai
