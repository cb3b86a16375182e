#include "server/plan/virtual_cluster.h"

#include "server/plan/carry_out.h"

namespace hai {

VirtualCluster::VirtualCluster(ClusterState state, const Knobs& knobs, UnixTime now)
    : state_(std::move(state)), knobs_(knobs), now_(now) {
  const std::set<JobId> live = state_.live();
  for (JobId id : live) {
    const Attempt& attempt = *state_.find(id)->attempt;
    if (!attempt.running_at && !attempt.end) emit(AttemptRunning{id, attempt.number});
  }
}

void VirtualCluster::emit(EventBody body) {
  state_.apply({state_.last_seq() + 1, now_, "forecast", std::move(body)});
}

VirtualCluster::Moves VirtualCluster::pass() {
  state_.take_touched();
  planner_->update(state_, state_.take_changes());
  const Plan plan = planner_->pass(state_, knobs_, now_);
  Decision decision(state_, knobs_, now_);
  carry_out(decision, plan);
  Moves moves{.is_partial = plan.is_partial, .is_none = decision.events().empty()};
  for (const Event& event : decision.events()) {
    if (const auto* placed = std::get_if<AttemptPlaced>(&event.body)) {
      moves.started.push_back(placed->job);
    } else if (const auto* leaving = std::get_if<AttemptSuspending>(&event.body)) {
      moves.asked_to_leave.push_back(leaving->job);
    }
  }
  for (JobId id : moves.started) emit(AttemptRunning{id, state_.find(id)->attempt->number});
  return moves;
}

PendingReason VirtualCluster::pending_reason(JobId job) const {
  return planner_->pending_reason(state_, *state_.find(job));
}

void VirtualCluster::end_attempt(JobId id, AttemptState outcome) {
  const Job& job = *state_.find(id);
  const int number = job.attempt->number;
  for (size_t rank = 0; rank < job.attempt->ranks.size(); ++rank) {
    if (is_gone(job.attempt->ranks[rank].state)) continue;
    emit(RankEnded{id, number, static_cast<int>(rank), RankState::exited, ExitCause::program});
  }
  const AttemptUsage usage = attempt_usage(Decision(state_, knobs_, now_), job);
  emit(AttemptEnded{id, number, outcome, "", 0, {}, usage.had, usage.of_user});
}

void VirtualCluster::suspend(JobId job) { end_attempt(job, AttemptState::suspended); }

void VirtualCluster::finish(JobId id, JobState state) {
  if (state_.find(id)->has_live_attempt()) {
    end_attempt(id, state == JobState::succeeded ? AttemptState::succeeded : AttemptState::failed);
  }
  emit(JobFinished{id, state, 0, ""});
}

}  // namespace hai
