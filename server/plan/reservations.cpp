// Nodes held for a job while others leave them: kept, started, or given back.

#include <fmt/core.h>

#include <algorithm>

#include "common/check.h"
#include "server/plan/eligible.h"
#include "server/plan/explain.h"
#include "server/plan/leaving.h"
#include "server/plan/order.h"
#include "server/plan/pass_state.h"

namespace hai {
namespace {

// The longest that an agent pauses between two attempts to reach a server.
constexpr Duration kAgentBackoffMax = 5s;

// A node that a new leader has not heard of yet: its reservations are kept for a moment, else all
// their victims would be told to go on and a little later to leave again.
bool may_come_back(const PassState& pass, const Node& node) {
  return pass.is_settling && node.liveness == Liveness::suspect &&
         node.liveness_reason == kNotHeardOf && node.scheduling == Scheduling::open;
}

bool is_heard_of(const PassState& pass, const Placement& placement) {
  return std::ranges::all_of(placement, [&](const RankPlacement& place) {
    return pass.state.find(place.node)->takes_jobs();
  });
}

std::string why_unusable(const PassState& pass, const Placement& placement) {
  for (const RankPlacement& place : placement) {
    const Node& node = *pass.state.find(place.node);
    const bool is_there = node.takes_jobs() || may_come_back(pass, node);
    if (is_there && without(place.gpus, node.all_gpus()).is_empty()) continue;
    return fmt::format("node {} takes no jobs any more", node.facts.name);
  }
  return "";
}

// Nobody knows when they end: it may take a person to say so.
std::string why_endless(const PassState& pass, const Job& job) {
  if (pass.stuck.empty()) return "";
  for (JobId id : waits_for(pass.state, job, pass.taken)) {
    if (!pass.stuck.contains(id)) continue;
    return fmt::format("job {} cannot end before a silent node of it answers", id.value);
  }
  return "";
}

std::string why_not(PassState& pass, const Job& job, int64_t units) {
  if (auto reason = not_eligible(pass.state, job, pass.now)) return reason->text;
  const Reservation& reservation = *job.reservation;
  if (std::string why = why_unusable(pass, reservation.placement); !why.empty()) return why;
  if (std::string why = why_endless(pass, job); !why.empty()) return why;
  if (const Node* node = node_too_small(pass.state, job, pass.taken)) {
    return fmt::format("node {} has not the CPUs or the memory for it any more", node->facts.name);
  }
  const int person = pass.index.ledger.find(job.user);
  const Room& room = pass.index.ledger.room(pass.state, person, job.spec->group);
  if (!room.has_room(reservation.priority, units)) return "its quota is used by another job now";
  return "";
}

// Its job looks for another place in this same pass, where its victims are still leaving and cost
// nothing.
void drop(PassState& pass, const Job& job, const std::string& why) {
  pass.plan.drops.push_back({job.id, why});
  pass.index.capacity.unhold(job.reservation->placement, host_ask(*job.spec));
  pass.refresh(job.reservation->placement);
  pass.index.waiting.add(pass.state, pass.index.capacity, pass.index.ledger, pass.knobs, pass.now,
                         job);
  pass.refiled.push_back(job.id);
}

void settle(PassState& pass, const Job& job) {
  const Reservation& reservation = *job.reservation;
  const int64_t units = quota_units(pass.state, *job.spec);
  if (std::string why = why_not(pass, job, units); !why.empty()) return drop(pass, job, why);
  pass.kept.insert(job.id);
  pass.crossing += pass.crosses(reservation.placement);
  Ledger& ledger = pass.index.ledger;
  const int person = ledger.find(job.user);
  ledger.use(ledger.room(pass.state, person, job.spec->group), reservation.priority, units);
  const std::set<JobId>& leaving = pass.awaited[job.id] = waits_for(pass.state, job, pass.taken);
  if (!leaving.empty()) {
    pass.plan.pending[job.id] = preempting_reason(reservation.placement.size(), leaving.size());
  } else if (is_heard_of(pass, reservation.placement)) {
    pass.plan.starts.push_back({job.id, reservation.placement, reservation.priority});
    // They were held for several jobs at once, but the victims of one need not be the other's.
    pass.taken.by.insert(job.id);
    for (const RankPlacement& place : reservation.placement) {
      pass.taken.of_node[place.node] +=
          host_use(pass.state.find(place.node)->facts, place.gpus.count(), host_ask(*job.spec));
    }
  } else {
    pass.plan.pending[job.id] = {
        PendingCode::recovering,
        "the server has just taken over and waits for the nodes held for it"};
  }
}

// For a moment it waits: those who leave have saved by then, and others can use what is free.
// Longer it need not.
bool waits_long(PassState& pass, const Job& holder) {
  const Duration patience = pass.knobs.checkpoint_patience;
  if (pass.now - holder.reservation->since >= patience) return true;
  return std::ranges::any_of(pass.awaited[holder.id], [&](JobId id) {
    const Attempt& attempt = *pass.state.find(id)->attempt;
    return attempt.suspend_deadline && *attempt.suspend_deadline - pass.now >= patience;
  });
}

// Places of the reservation where others still are, at least one.
int places_awaited(const PassState& pass, const Placement& placement) {
  const auto count = std::ranges::count_if(placement, [&](const RankPlacement& place) {
    return std::ranges::any_of(pass.state.find(place.node)->occupants, [&](const Occupant& other) {
      return !(other.gpus & place.gpus).is_empty();
    });
  });
  return std::max(1, static_cast<int>(count));
}

void take_back(PassState& pass, const Job& holder) {
  const Reservation& reservation = *holder.reservation;
  std::erase_if(pass.plan.starts, [&](const StartItem& item) { return item.job == holder.id; });
  pass.kept.erase(holder.id);
  pass.crossing -= pass.crosses(reservation.placement);
  Ledger& ledger = pass.index.ledger;
  ledger.use(ledger.room(pass.state, ledger.find(holder.user), holder.spec->group),
             reservation.priority, -quota_units(pass.state, *holder.spec));
  const std::string why = "a job of higher priority needs the nodes";
  pass.plan.drops.push_back({holder.id, why});
  pass.index.capacity.unhold(reservation.placement, host_ask(*holder.spec));
  pass.refresh(reservation.placement);
  pass.plan.pending[holder.id] = {PendingCode::resources,
                                  "nodes were held for it until just now: " + why};
}

bool on_draining_node(const PassState& pass, const Attempt& attempt) {
  return std::ranges::any_of(attempt.holding_ranks(), [&](const Rank& rank) {
    return pass.state.find(rank.place.node)->scheduling == Scheduling::draining;
  });
}

// A rank that was asked before it came stays away, and after its grace it is killed; and of one
// that has left, but with exit code 0, the others would wait in vain, or its end would be a
// failure. Such an attempt ends, whatever anybody wants by then.
bool may_go_on(const PassState& pass, const Attempt& attempt) {
  return attempt.running_at && pass.now < *attempt.suspend_deadline &&
         std::ranges::all_of(attempt.ranks, [](const Rank& rank) {
           return !is_gone(rank.state) || (rank.cause == ExitCause::program && rank.exit_code == 0);
         });
}

}  // namespace

bool is_settling(const ClusterState& state, const Knobs& knobs, UnixTime now) {
  if (now - state.epoch_began_at() > 2 * knobs.heartbeat + kAgentBackoffMax) return false;
  return std::ranges::any_of(state.nodes(), [](const auto& item) {
    return item.second.liveness == Liveness::suspect && item.second.liveness_reason == kNotHeardOf;
  });
}

void find_stuck(PassState& pass) {
  const Incident* loss = pass.state.open_incident(kMassLoss);
  if (loss == nullptr) return;
  for (NodeId id : loss->nodes) {
    const Node& node = *pass.state.find(id);
    if (node.liveness == Liveness::up) continue;
    for (const Occupant& occupant : node.occupants) {
      const Attempt& attempt = *pass.state.find(occupant.job)->attempt;
      const bool is_leaving = attempt.end || attempt.state == AttemptState::suspending;
      if (!is_leaving || is_gone(attempt.ranks[occupant.rank].state)) continue;
      if (!pass.stuck.insert(occupant.job).second) continue;
      pass.index.running.set_stuck(pass.index.capacity, occupant.job, true);
    }
  }
}

void settle_reservations(PassState& pass) {
  for (JobId id : pass.state.reserved()) settle(pass, *pass.state.find(id));
}

bool start_elsewhere(PassState& pass, const Job& holder, const Demand& demand) {
  if (!waits_long(pass, holder)) return false;
  const Reservation& reservation = *holder.reservation;
  Capacity& capacity = pass.index.capacity;
  // Cheap: so many nodes more than it has must be free.
  Demand others = demand;
  others.nodes = places_awaited(pass, reservation.placement);
  if (!has_enough_nodes(capacity, others)) return false;
  const Capacity::Mark mark = capacity.mark();
  const HostAsk ask = host_ask(*holder.spec);
  capacity.unhold(reservation.placement, ask);
  const std::optional<Placement> found = place(capacity, demand);
  if (!found) return capacity.undo_to(mark), false;
  capacity.take(*found, ask);
  pass.refresh(reservation.placement);
  pass.refresh(*found);
  pass.crossing += pass.crosses(*found) - pass.crosses(reservation.placement);
  pass.kept.erase(holder.id);
  pass.plan.pending.erase(holder.id);
  pass.plan.drops.push_back({holder.id, "it starts on other nodes, which are free by now"});
  pass.plan.starts.push_back({holder.id, *found, reservation.priority});
  return true;
}

bool take_back_lower_reservations(PassState& pass, const Demand& demand,
                                  const Requester& requester) {
  std::vector<const Job*> lower;
  for (JobId id : pass.kept) {
    const Job& holder = *pass.state.find(id);
    if (holder.reservation->priority < requester.level) lower.push_back(&holder);
  }
  if (lower.empty()) return false;
  Capacity& capacity = pass.index.capacity;
  const Capacity::Mark mark = capacity.mark();
  auto has_room = [&] {
    return place(capacity, demand).has_value() ||
           (!pass.is_settling && preempt(pass.preempt_context(), demand, requester).has_value());
  };
  // The protection of the held slots counts only where they are held.
  auto unhold = [&](const Job& holder) {
    capacity.unhold(holder.reservation->placement, host_ask(*holder.spec));
    pass.refresh(holder.reservation->placement);
  };
  auto hold = [&](const Job& holder) {
    capacity.hold(holder.reservation->placement, host_ask(*holder.spec));
    pass.refresh(holder.reservation->placement);
  };
  for (const Job* holder : lower) unhold(*holder);
  std::vector<const Job*> given;
  if (has_room()) {
    // The most important and oldest keeps its nodes, if any can.
    std::ranges::stable_sort(lower, {}, [](const Job* holder) {
      return std::pair(-static_cast<int>(holder->reservation->priority), holder->id);
    });
    for (const Job* holder : lower) {
      hold(*holder);
      if (has_room()) continue;
      unhold(*holder);
      given.push_back(holder);
    }
  }
  capacity.undo_to(mark);
  for (const Job* holder : lower) pass.refresh(holder->reservation->placement);
  for (const Job* holder : given) take_back(pass, *holder);
  return !given.empty();
}

void release_pointless_suspensions(PassState& pass) {
  std::set<JobId> needed = pass.asked;
  for (JobId id : pass.kept) {
    needed.insert(pass.awaited[id].begin(), pass.awaited[id].end());
  }
  for (JobId id : pass.index.running.suspending()) {
    const Job& job = *pass.state.find(id);
    const Attempt& attempt = *job.attempt;
    if (!attempt.suspended_for || !may_go_on(pass, attempt)) continue;
    if (job.held || needed.contains(id) || on_draining_node(pass, attempt)) continue;
    pass.plan.continues.push_back(
        {id, fmt::format("job {}, for which it was to leave, needs it no more",
                         attempt.suspended_for.value)});
  }
}

}  // namespace hai
