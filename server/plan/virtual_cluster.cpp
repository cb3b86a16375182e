#include "server/plan/virtual_cluster.h"

#include <algorithm>

#include "server/plan/order.h"

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
  Moves moves{.is_partial = plan.is_partial};
  const int64_t before = state_.last_seq();
  for (const DropItem& item : plan.drops) {
    const Job* job = state_.find(item.job);
    if (job != nullptr && job->reservation) emit(ReservationDropped{item.job, item.reason});
  }
  for (const SuspendItem& item : plan.suspends) ask_to_leave(item.job, {}, item.reason, moves);
  for (const StartItem& item : plan.starts) start(item, moves);
  for (const ReserveItem& item : plan.reserves) reserve(item, moves);
  for (const ContinueItem& item : plan.continues) {
    const Job* job = state_.find(item.job);
    if (job == nullptr || !job->has_live_attempt() || job->attempt->end) continue;
    if (job->attempt->state != AttemptState::suspending) continue;
    emit(AttemptContinued{item.job, job->attempt->number, item.reason});
  }
  moves.is_none = state_.last_seq() == before;
  return moves;
}

PendingReason VirtualCluster::pending_reason(JobId job) const {
  return planner_->pending_reason(state_, *state_.find(job));
}

void VirtualCluster::start(const StartItem& item, Moves& moves) {
  const Job* job = state_.find(item.job);
  if (job == nullptr || !job->is_waiting() || job->held) return;
  bool exclusive = job->spec->gpus_per_node == 0;
  bool are_whole = true;
  for (const RankPlacement& place : item.placement) {
    const Node* node = state_.find(place.node);
    if (node == nullptr || !node->takes_jobs()) return;
    if (!without(place.gpus, node->free_gpus(item.job)).is_empty()) return;
    are_whole = are_whole && place.gpus == node->all_gpus();
  }
  exclusive = exclusive || are_whole;
  const int attempt = job->next_attempt();
  emit(AttemptPlaced{item.job, attempt, item.placement, item.priority, 0, exclusive,
                     item.is_jumper});
  emit(AttemptRunning{item.job, attempt});
  moves.started.push_back(item.job);
}

void VirtualCluster::reserve(const ReserveItem& item, Moves& moves) {
  const Job* job = state_.find(item.job);
  if (job == nullptr || !job->is_waiting() || job->reservation) return;
  for (const RankPlacement& place : item.placement) {
    const Node* node = state_.find(place.node);
    if (node == nullptr || !node->takes_jobs()) return;
    if (!(place.gpus & node->held_gpus_for_others(item.job)).is_empty()) return;
    for (const Occupant& occupant : node->occupants) {
      if ((occupant.gpus & place.gpus).is_empty()) continue;
      if (std::ranges::find(item.victims, occupant.job) == item.victims.end()) return;
    }
  }
  emit(NodesReserved{item.job, {item.placement, item.priority, item.victims, now_}});
  for (JobId victim : item.victims) ask_to_leave(victim, item.job, "makes room", moves);
}

void VirtualCluster::ask_to_leave(JobId victim, JobId beneficiary, const std::string& reason,
                                  Moves& moves) {
  const Job* job = state_.find(victim);
  if (job == nullptr || !job->has_live_attempt() || job->attempt->end) return;
  if (job->attempt->state == AttemptState::suspending) return;
  emit(AttemptSuspending{victim, job->attempt->number, now_ + job->spec->suspend.grace, beneficiary,
                         reason});
  moves.asked_to_leave.push_back(victim);
}

void VirtualCluster::end_attempt(JobId id, AttemptState outcome) {
  const Job& job = *state_.find(id);
  const int number = job.attempt->number;
  for (size_t rank = 0; rank < job.attempt->ranks.size(); ++rank) {
    if (is_gone(job.attempt->ranks[rank].state)) continue;
    emit(RankEnded{id, number, static_cast<int>(rank), RankState::exited, ExitCause::program});
  }
  const int64_t had = gpu_seconds_had(job, now_) - job.gpu_seconds;
  const User* user = state_.find_user(job.user);
  const int64_t before = user == nullptr ? 0 : decayed(user->usage, now_, knobs_.usage_half_life);
  emit(AttemptEnded{id, number, outcome, "", 0, {}, had, before + had});
}

void VirtualCluster::suspend(JobId job) { end_attempt(job, AttemptState::suspended); }

void VirtualCluster::finish(JobId id, JobState state) {
  if (state_.find(id)->has_live_attempt()) {
    end_attempt(id, state == JobState::succeeded ? AttemptState::succeeded : AttemptState::failed);
  }
  emit(JobFinished{id, state, 0, ""});
}

}  // namespace hai
