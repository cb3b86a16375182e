#include "server/plan/planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/check.h"
#include "server/plan/capacity.h"
#include "server/plan/eligible.h"
#include "server/plan/explain.h"
#include "server/plan/preempt.h"

namespace hai {
namespace {

// The longest that an agent pauses between two attempts to reach a server.
constexpr Duration kAgentBackoffMax = 5s;

struct Candidate {
  const Job* job = nullptr;
  Priority level = Priority::low;
  int64_t units = 0;
};

class Pass {
 public:
  Pass(const ClusterState& state, const Knobs& knobs, UnixTime now)
      : state_(state), knobs_(knobs), now_(now), capacity_(state), quota_(state) {
    is_settling_ = is_settling();
  }

  Plan run() {
    settle_reservations();
    empty_draining_nodes();
    crossing_ = cross_zone_job_runs();
    for (const Candidate& candidate : candidates()) consider(candidate);
    release_pointless_suspensions();
    return std::move(plan_);
  }

 private:
  // A reservation starts when its victims have left, and goes back when it can't be used any more;
  // then its job looks for another place in this same pass, where its victims are still leaving and
  // cost nothing.
  void settle_reservations() {
    for (JobId id : state_.reserved()) {
      const Job& job = *state_.find(id);
      const Reservation& reservation = *job.reservation;
      int64_t units = quota_units(state_, *job.spec);
      std::string why;
      if (auto reason = not_eligible(state_, job, now_)) {
        why = reason->text;
      } else if (!places_usable(reservation.placement, &why)) {
        // why is set
      } else if (!quota_.has_room(*state_.find_user(job.user), job.spec->group,
                                  reservation.priority, units)) {
        why = "its quota is used by another job now";
      }
      if (!why.empty()) {
        drop(job, why);
        continue;
      }
      kept_.insert(id);
      quota_.use(job.user, job.spec->group, reservation.priority, units);
      std::set<JobId> waits_for = users_of(reservation.placement);
      if (!waits_for.empty()) {
        plan_.pending[id] = preempting_reason(reservation.placement.size(), waits_for.size());
      } else if (is_heard_of(reservation.placement)) {
        plan_.starts.push_back({id, reservation.placement, reservation.priority});
      } else {
        plan_.pending[id] = {PendingCode::recovering,
                             "the server has just taken over and waits for the nodes held for it"};
      }
    }
  }

  // A node that a new leader has not heard of yet: its reservations are kept for a moment, else all
  // their victims would be told to go on and a little later to leave again.
  bool may_come_back(const Node& node) const {
    return is_settling_ && node.liveness == Liveness::suspect &&
           node.liveness_reason == kNotHeardOf && node.scheduling == Scheduling::open;
  }

  bool is_heard_of(const Placement& placement) const {
    return std::ranges::all_of(placement, [&](const RankPlacement& place) {
      return state_.find(place.node)->takes_jobs();
    });
  }

  bool places_usable(const Placement& placement, std::string* why) const {
    for (const RankPlacement& place : placement) {
      const Node& node = *state_.find(place.node);
      bool is_there = node.takes_jobs() || may_come_back(node);
      if (is_there && without(place.gpus, node.all_gpus()).is_empty()) continue;
      *why = fmt::format("node {} takes no jobs any more", node.facts.name);
      return false;
    }
    return true;
  }

  // Jobs still standing on these GPUs.
  std::set<JobId> users_of(const Placement& placement) const {
    std::set<JobId> jobs;
    for (const RankPlacement& place : placement) {
      for (const Occupant& occupant : state_.find(place.node)->occupants) {
        if (!(occupant.gpus & place.gpus).is_empty()) jobs.insert(occupant.job);
      }
    }
    return jobs;
  }

  void drop(const Job& job, const std::string& why) {
    plan_.drops.push_back({job.id, why});
    capacity_.unhold(job.reservation->placement);
  }

  void release_pointless_suspensions() {
    std::set<JobId> needed = asked_;
    for (JobId id : kept_) needed.merge(users_of(state_.find(id)->reservation->placement));
    for (JobId id : state_.live()) {
      const Job& job = *state_.find(id);
      const Attempt& attempt = *job.attempt;
      if (attempt.state != AttemptState::suspending || attempt.end || !attempt.suspended_for)
        continue;
      if (job.held || needed.contains(id) || on_draining_node(attempt)) continue;
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
      if (kept_.contains(id)) continue;
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
    bool must_cross = demand.may_cross_zones;
    demand.may_cross_zones = must_cross && !crossing_;
    if (!is_hopeless(demand)) {
      if (find_room(candidate, *level, demand)) return;
      if (take_back_lower_reservations(*level, demand)) {
        CHECK(find_room(candidate, *level, demand));
        return;
      }
      hopeless_.insert_or_assign(demand.shape(), demand.nodes);
    }
    plan_.pending[job.id] = resources_reason(capacity_, demand);
    if (must_cross && crossing_) {
      plan_.pending[job.id].text +=
          "; no zone is that large, and only one job at a time may run across zones";
    }
  }

  // Starts it in free capacity, or reserves what legal victims leave.
  bool find_room(const Candidate& candidate, Priority level, const Demand& demand) {
    if (auto placement = place(capacity_, demand)) {
      start(*candidate.job, level, candidate.units, *placement);
      return true;
    }
    auto room = make_room(capacity_, demand, level);
    if (room) reserve(*candidate.job, level, candidate.units, *room);
    return room.has_value();
  }

  std::optional<Preemption> make_room(const Capacity& capacity, const Demand& demand,
                                      Priority level) const {
    if (is_settling_) return std::nullopt;
    return preempt(state_, capacity, knobs_, now_, demand, level, asked_);
  }

  // A new leader hears of one node after the other. Until the last is back, or surely will not be,
  // nobody is asked to leave: the nodes that are missing may be the free ones.
  bool is_settling() const {
    if (now_ - state_.epoch_began_at() > 2 * knobs_.heartbeat + kAgentBackoffMax) return false;
    return std::ranges::any_of(state_.nodes(), [](const auto& item) {
      return item.second.liveness == Liveness::suspect &&
             item.second.liveness_reason == kNotHeardOf;
    });
  }

  void start(const Job& job, Priority level, int64_t units, const Placement& placement) {
    capacity_.take(placement);
    use(job, level, units, placement);
    plan_.starts.push_back({job.id, placement, level});
  }

  void reserve(const Job& job, Priority level, int64_t units, const Preemption& room) {
    capacity_.hold(room.placement);
    use(job, level, units, room.placement);
    asked_.insert(room.victims.begin(), room.victims.end());
    plan_.reserves.push_back({job.id, room.placement, level, room.victims});
    plan_.pending[job.id] = preempting_reason(room.placement.size(), room.victims.size());
  }

  void use(const Job& job, Priority level, int64_t units, const Placement& placement) {
    quota_.use(job.user, job.spec->group, level, units);
    crossing_ = crossing_ || crosses(placement);
  }

  // Nodes held for less important jobs are no reason to wait: as many of these reservations as it
  // takes are given back, the most important and oldest last. Their victims are leaving already, so
  // that nobody new has to.
  bool take_back_lower_reservations(Priority level, const Demand& demand) {
    std::vector<const Job*> lower;
    Capacity trial = capacity_;
    for (JobId id : kept_) {
      const Job& holder = *state_.find(id);
      if (holder.reservation->priority >= level) continue;
      lower.push_back(&holder);
      trial.unhold(holder.reservation->placement);
    }
    auto has_room = [&] {
      return place(trial, demand) || make_room(trial, demand, level).has_value();
    };
    if (lower.empty() || !has_room()) return false;
    std::ranges::stable_sort(lower, {}, [](const Job* holder) {
      return std::pair(-static_cast<int>(holder->reservation->priority), holder->id);
    });
    for (const Job* holder : lower) {
      trial.hold(holder->reservation->placement);
      if (has_room()) continue;
      trial.unhold(holder->reservation->placement);
      take_back(*holder);
    }
    return true;
  }

  void take_back(const Job& holder) {
    std::erase_if(plan_.starts, [&](const StartItem& item) { return item.job == holder.id; });
    kept_.erase(holder.id);
    quota_.use(holder.user, holder.spec->group, holder.reservation->priority,
               -quota_units(state_, *holder.spec));
    const std::string why = "a job of higher priority needs the nodes";
    drop(holder, why);
    plan_.pending[holder.id] = {PendingCode::resources,
                                "nodes were held for it until just now: " + why};
  }

  // As big a gang of the same shape has failed before in this pass, at the same or a higher level.
  bool is_hopeless(const Demand& demand) const {
    auto it = hopeless_.find(demand.shape());
    return it != hopeless_.end() && demand.nodes >= it->second;
  }

  bool crosses(const Placement& placement) const {
    return crosses_zones(state_, placement.front().node, placement.back().node);
  }

  bool cross_zone_job_runs() const {
    return std::ranges::any_of(state_.live(),
                               [&](JobId id) {
                                 const std::vector<Rank>& ranks = state_.find(id)->attempt->ranks;
                                 return crosses_zones(state_, ranks.front().place.node,
                                                      ranks.back().place.node);
                               }) ||
           std::ranges::any_of(
               kept_, [&](JobId id) { return crosses(state_.find(id)->reservation->placement); });
  }

  const ClusterState& state_;
  const Knobs& knobs_;
  const UnixTime now_;
  Capacity capacity_;
  QuotaLedger quota_;
  std::set<JobId> kept_;   // jobs whose reservation stands
  std::set<JobId> asked_;  // victims of this pass
  bool crossing_ = false;  // a job runs across zones, or will
  bool is_settling_ = false;
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
