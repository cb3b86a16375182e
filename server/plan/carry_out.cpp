#include "server/plan/carry_out.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "server/model/master_port.h"
#include "server/plan/order.h"

namespace hai {
namespace {

bool is_free_for(const ClusterState& state, const Job& job, const Placement& placement) {
  return std::ranges::all_of(placement, [&](const RankPlacement& place) {
    const Node* node = state.find(place.node);
    return node != nullptr && node->takes_jobs() &&
           without(place.gpus, node->free_gpus(job.id)).is_empty() &&
           node->has_host_now(place.gpus, host_ask(*job.spec));
  });
}

// In a group of mixed nodes the same demand may be a whole node here and a share there.
bool is_exclusive(const ClusterState& state, const Job& job, const Placement& placement) {
  if (job.spec->gpus_per_node == 0) return true;
  if (!job.spec->asks_gpus()) return false;
  return std::ranges::all_of(placement, [&](const RankPlacement& place) {
    return place.gpus == state.find(place.node)->all_gpus();
  });
}

void start(Decision& decision, const StartItem& item) {
  const Job* job = decision.state().find(item.job);
  if (job == nullptr || !job->is_waiting() || job->held) return;
  if (!is_free_for(decision.state(), *job, item.placement)) return;
  int attempt = job->next_attempt();
  decision.emit(AttemptPlaced{
      item.job, attempt, item.placement, item.priority, master_port(item.job, attempt),
      is_exclusive(decision.state(), *job, item.placement), item.is_jumper});
}

void reserve(Decision& decision, const ReserveItem& item) {
  const Job* job = decision.state().find(item.job);
  if (job == nullptr || !job->is_waiting() || job->reservation) return;
  std::set<JobId> victims(item.victims.begin(), item.victims.end());
  for (const RankPlacement& place : item.placement) {
    const Node* node = decision.state().find(place.node);
    if (node == nullptr || !node->takes_jobs()) return;
    if (!(place.gpus & node->held_gpus_for_others(item.job)).is_empty()) return;
    for (const Occupant& occupant : node->occupants) {
      if (!(occupant.gpus & place.gpus).is_empty() && !victims.contains(occupant.job)) return;
    }
  }
  decision.emit(NodesReserved{
      item.job, {item.placement, item.priority, item.victims, decision.now(), item.is_move}});
  for (JobId victim : item.victims) {
    suspend_attempt(
        decision, victim, item.job,
        item.is_move
            ? fmt::format("moves to other GPUs, so that job {} ({}) of {} gets whole nodes",
                          item.job.value, job->spec->name, job->user)
            : fmt::format("makes room for job {} ({}) of {}, priority {}", item.job.value,
                          job->spec->name, job->user, to_string(item.priority)));
  }
}

}  // namespace

void suspend_attempt(Decision& decision, JobId id, JobId beneficiary, const std::string& reason) {
  const Job& job = *decision.state().find(id);
  if (!job.has_live_attempt() || job.attempt->end || job.attempt->state == AttemptState::suspending)
    return;
  decision.emit(AttemptSuspending{id, job.attempt->number, decision.now() + job.spec->suspend.grace,
                                  beneficiary, reason});
}

static AttemptUsage charge(const Decision& decision, const Job& job, int64_t had) {
  const User* user = decision.state().find_user(job.user);
  if (user == nullptr) return {had, had};
  return {had, had + decayed(user->usage, decision.now(), decision.knobs().usage_half_life)};
}

AttemptUsage attempt_usage(const Decision& decision, const Job& job) {
  return charge(decision, job, gpu_seconds_had(job, decision.now()) - job.gpu_seconds);
}

AttemptUsage rank_usage(const Decision& decision, const Job& job, const Rank& rank) {
  return charge(decision, job, gpu_seconds_had(job, rank, decision.now()));
}

void carry_out(Decision& decision, const Plan& plan) {
  decision.set_actor("scheduler");
  for (const DropItem& item : plan.drops) {
    const Job* job = decision.state().find(item.job);
    if (job != nullptr && job->reservation)
      decision.emit(ReservationDropped{item.job, item.reason});
  }
  for (const SuspendItem& item : plan.suspends) {
    const Job* job = decision.state().find(item.job);
    if (job != nullptr) suspend_attempt(decision, item.job, {}, item.reason);
  }
  for (const StartItem& item : plan.starts) start(decision, item);
  for (const ReserveItem& item : plan.reserves) reserve(decision, item);
  for (const ContinueItem& item : plan.continues) {
    const Job* job = decision.state().find(item.job);
    if (job == nullptr || !job->has_live_attempt()) continue;
    if (job->attempt->state != AttemptState::suspending || job->attempt->end) continue;
    decision.emit(AttemptContinued{item.job, job->attempt->number, item.reason});
  }
}

}  // namespace hai
