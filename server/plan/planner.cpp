#include "server/plan/planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "server/plan/capacity.h"
#include "server/plan/eligible.h"
#include "server/plan/preempt.h"

namespace hai {
namespace {

struct Candidate {
  const Job* job = nullptr;
  Priority level = Priority::low;
  int64_t units = 0;
};

class Pass {
 public:
  Pass(const ClusterState& state, const Knobs& knobs, UnixTime now)
      : state_(state), knobs_(knobs), now_(now), capacity_(state), quota_(state) {}

  Plan run() {
    settle_reservations();
    empty_draining_nodes();
    for (const Candidate& candidate : candidates()) consider(candidate);
    release_pointless_suspensions();
    return std::move(plan_);
  }

 private:
  // A reservation starts when its victims have left, and goes back when it can't be used any more.
  void settle_reservations() {
    for (JobId id : state_.reserved()) {
      const Job& job = *state_.find(id);
      const Reservation& reservation = *job.reservation;
      std::string why;
      if (auto reason = not_eligible(state_, job, now_)) {
        why = reason->text;
      } else if (!places_usable(reservation.placement, &why)) {
        // why is set
      } else if (!quota_.has_room(*state_.find_user(job.user), job.spec->group,
                                  reservation.priority, quota_units(state_, *job.spec))) {
        why = "its quota is used by another job now";
      }
      if (!why.empty()) {
        drop(job, why);
        continue;
      }
      kept_.insert(id);
      taken_.insert(reservation.victims.begin(), reservation.victims.end());
      quota_.use(job.user, job.spec->group, reservation.priority, quota_units(state_, *job.spec));
      int waiting_for = blockers(job);
      if (waiting_for == 0) {
        plan_.starts.push_back({id, reservation.placement, reservation.priority});
      } else {
        plan_.pending[id] = {
            PendingCode::preempting,
            fmt::format("{} nodes are held for it; waits for {} job{} to save and leave",
                        reservation.placement.size(), waiting_for, waiting_for == 1 ? "" : "s")};
      }
    }
  }

  bool places_usable(const Placement& placement, std::string* why) const {
    for (const RankPlacement& place : placement) {
      const Node& node = *state_.find(place.node);
      if (node.takes_jobs() && without(place.gpus, node.all_gpus()).is_empty()) continue;
      *why = fmt::format("node {} takes no jobs any more", node.facts.name);
      return false;
    }
    return true;
  }

  // Jobs still standing on the GPUs held for `job`.
  int blockers(const Job& job) const {
    std::set<JobId> jobs;
    for (const RankPlacement& place : job.reservation->placement) {
      for (const Occupant& occupant : state_.find(place.node)->occupants) {
        if (!(occupant.gpus & place.gpus).is_empty()) jobs.insert(occupant.job);
      }
    }
    return static_cast<int>(jobs.size());
  }

  // A dropped reservation's GPUs are given away from the next pass on, when its victims have been
  // told.
  void drop(const Job& job, const std::string& why) {
    plan_.drops.push_back({job.id, why});
    dropped_.insert(job.id);
  }

  void release_pointless_suspensions() {
    for (JobId id : state_.live()) {
      const Job& job = *state_.find(id);
      const Attempt& attempt = *job.attempt;
      if (attempt.state != AttemptState::suspending || attempt.end || !attempt.suspended_for)
        continue;
      if (job.held || taken_.contains(id) || on_draining_node(attempt)) continue;
      plan_.continues.push_back(
          {id, fmt::format("job {}, for which it was to leave, needs it no more",
                           attempt.suspended_for.value)});
    }
  }

  bool on_draining_node(const Attempt& attempt) const {
    return std::ranges::any_of(attempt.ranks, [&](const Rank& rank) {
      return state_.find(rank.place.node)->scheduling == Scheduling::draining;
    });
  }

  void empty_draining_nodes() {
    for (const auto& [id, node] : state_.nodes()) {
      if (node.scheduling != Scheduling::draining) continue;
      for (const Occupant& occupant : node.occupants) {
        const Attempt& attempt = *state_.find(occupant.job)->attempt;
        if (attempt.end || attempt.state == AttemptState::suspending) continue;
        bool known = std::ranges::any_of(
            plan_.suspends, [&](const SuspendItem& item) { return item.job == occupant.job; });
        if (!known) {
          plan_.suspends.push_back(
              {occupant.job, fmt::format("node {} is being drained", node.facts.name)});
        }
      }
    }
  }

  // Waiting jobs that may run, best first. `auto` jobs stand at the level whose quota they would
  // use.
  std::vector<Candidate> candidates() {
    std::vector<Candidate> out;
    for (const auto& [order, id] : state_.waiting()) {
      const Job& job = *state_.find(id);
      if (kept_.contains(id) || dropped_.contains(id)) continue;
      if (auto reason = not_eligible(state_, job, now_)) {
        plan_.pending[id] = std::move(*reason);
        continue;
      }
      Candidate candidate{&job, job.priority, quota_units(state_, *job.spec)};
      if (job.priority == Priority::automatic) {
        PendingReason reason;
        auto level =
            effective_level(quota_, *state_.find_user(job.user), job, candidate.units, &reason);
        if (!level) {
          plan_.pending[id] = std::move(reason);
          continue;
        }
        candidate.level = *level;
      }
      out.push_back(candidate);
    }
    std::ranges::stable_sort(out, [](const Candidate& a, const Candidate& b) {
      return std::pair(-static_cast<int>(a.level), a.job->id) <
             std::pair(-static_cast<int>(b.level), b.job->id);
    });
    return out;
  }

  void consider(const Candidate& candidate) {
    const Job& job = *candidate.job;
    // Quota again: jobs considered before this one may have used it in this pass.
    PendingReason reason;
    auto level =
        effective_level(quota_, *state_.find_user(job.user), job, candidate.units, &reason);
    if (!level) {
      plan_.pending[job.id] = std::move(reason);
      return;
    }
    Demand demand = demand_of(capacity_, job, knobs_, now_);
    if (is_hopeless(demand)) {
      plan_.pending[job.id] = resources_reason(demand);
      return;
    }
    demand.may_cross_zones = demand.may_cross_zones && !cross_zone_job_runs();
    if (auto placement = place(capacity_, demand)) {
      start(job, *level, candidate.units, *placement);
      return;
    }
    if (auto room = preempt(state_, capacity_, knobs_, now_, demand, *level, taken_)) {
      reserve(job, *level, candidate.units, *room);
      return;
    }
    take_back_lower_reservations(*level, demand);
    hopeless_.insert_or_assign(demand.shape(), demand.nodes);
    plan_.pending[job.id] = resources_reason(demand);
  }

  void start(const Job& job, Priority level, int64_t units, const Placement& placement) {
    capacity_.take(placement);
    quota_.use(job.user, job.spec->group, level, units);
    plan_.starts.push_back({job.id, placement, level});
  }

  void reserve(const Job& job, Priority level, int64_t units, const Preemption& room) {
    capacity_.take(room.placement);
    quota_.use(job.user, job.spec->group, level, units);
    taken_.insert(room.victims.begin(), room.victims.end());
    plan_.reserves.push_back({job.id, room.placement, level, room.victims});
    plan_.pending[job.id] = {
        PendingCode::preempting,
        fmt::format("{} nodes are held for it; waits for {} job{} to save and leave",
                    room.placement.size(), room.victims.size(),
                    room.victims.size() == 1 ? "" : "s")};
  }

  // Nodes held for a less important job are no reason to wait: they are given back, and the next
  // pass sees them.
  void take_back_lower_reservations(Priority level, const Demand& demand) {
    Capacity trial = capacity_;
    std::vector<const Job*> lower;
    for (JobId id : kept_) {
      const Job& holder = *state_.find(id);
      if (holder.reservation->priority >= level || dropped_.contains(id)) continue;
      lower.push_back(&holder);
      for (const RankPlacement& place : holder.reservation->placement)
        trial.give(place.node, place.gpus);
    }
    if (lower.empty() || !place(trial, demand)) return;
    for (const Job* holder : lower) {
      std::erase_if(plan_.starts, [&](const StartItem& item) { return item.job == holder->id; });
      drop(*holder, "a job of higher priority needs the nodes");
      plan_.pending.erase(holder->id);
    }
  }

  // As big a gang of the same shape has failed before in this pass, at the same or a higher level.
  bool is_hopeless(const Demand& demand) const {
    auto it = hopeless_.find(demand.shape());
    return it != hopeless_.end() && demand.nodes >= it->second;
  }

  bool cross_zone_job_runs() const {
    return std::ranges::any_of(state_.live(), [&](JobId id) {
      const std::vector<Rank>& ranks = state_.find(id)->attempt->ranks;
      return state_.find(ranks.front().place.node)->facts.zone !=
             state_.find(ranks.back().place.node)->facts.zone;
    });
  }

  PendingReason resources_reason(const Demand& demand) const {
    int usable = 0;
    int fitting = 0;
    for (int index : eligible_slots(capacity_, demand)) {
      const Slot& slot = capacity_.slots()[index];
      usable += slot.usable;
      fitting += !fit(*slot.node, slot.free, demand.gpus).is_empty();
    }
    std::string where = demand.zone.empty() ? demand.group : demand.group + "#" + demand.zone;
    std::string what =
        demand.gpus == 0 ? "whole nodes" : fmt::format("nodes with {} free GPUs", demand.gpus);
    return {PendingCode::resources,
            fmt::format("needs {} {} in {}; {} of {} open nodes can give that now", demand.nodes,
                        what, where, fitting, usable)};
  }

  const ClusterState& state_;
  const Knobs& knobs_;
  const UnixTime now_;
  Capacity capacity_;
  QuotaLedger quota_;
  std::set<JobId> taken_;    // victims that some reservation counts on
  std::set<JobId> kept_;     // jobs whose reservation stands
  std::set<JobId> dropped_;  // jobs whose reservation goes back in this pass
  std::map<decltype(std::declval<Demand>().shape()), int> hopeless_;
  Plan plan_;
};

}  // namespace

Plan plan(const ClusterState& state, const Knobs& knobs, UnixTime now) {
  return Pass(state, knobs, now).run();
}

Demand demand_of(const Capacity& capacity, const Job& job, const Knobs& knobs, UnixTime now) {
  const JobSpec& spec = *job.spec;
  Demand demand{.group = spec.group,
                .zone = spec.zone,
                .nodes = spec.node_count,
                .gpus = spec.gpus_per_node,
                .avoid = job.avoid};
  UnixTime waiting_since =
      job.attempt && job.attempt->ended_at ? *job.attempt->ended_at : job.submitted_at;
  if (now - waiting_since < knobs.tight_wait) demand.max_leaves = spec.max_leaves;
  if (spec.cross_zone == CrossZone::allow && spec.zone.empty()) {
    demand.may_cross_zones = !one_zone_could_hold(capacity, demand);
  }
  return demand;
}

}  // namespace hai
