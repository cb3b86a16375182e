#pragma once
// A copy of the cluster that lives on in virtual time: the same planner decides, its plans come
// true at once (carry_out.h), and nothing of it leaves the copy. For what-if and forecasts.

#include <memory>
#include <vector>

#include "server/plan/planner.h"

namespace hai {

class VirtualCluster {
 public:
  // Attempts that are being launched run, nodes that are up stay up.
  VirtualCluster(ClusterState state, const Knobs& knobs, UnixTime now);

  const ClusterState& state() const { return state_; }
  UnixTime now() const { return now_; }
  void advance_to(UnixTime now) { now_ = now; }

  // What one pass made happen.
  struct Moves {
    std::vector<JobId> started;
    std::vector<JobId> asked_to_leave;
    bool is_partial = false;
    bool is_none = true;  // nothing at all happened
  };
  Moves pass();
  // What the planner says of a job that waits.
  PendingReason pending_reason(JobId job) const;

  void submit(JobSubmitted job) { emit(std::move(job)); }
  // The job's attempt ends: it waits again.
  void suspend(JobId job);
  // … and so does the job.
  void finish(JobId job, JobState state = JobState::succeeded);

 private:
  void emit(EventBody body);
  void end_attempt(JobId job, AttemptState outcome);

  ClusterState state_;
  const Knobs knobs_;
  UnixTime now_;
  std::unique_ptr<Planner> planner_ =
      make_planner(VictimChoice::least_lost_work, /*looks_at_all=*/true);
};

}  // namespace hai
