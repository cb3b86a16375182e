#include "server/plan/leaving.h"

#include <algorithm>

namespace hai {
namespace {

bool is_going(const ClusterState& state, const Job& holder, JobId id) {
  const std::vector<JobId>& victims = holder.reservation->victims;
  if (std::ranges::find(victims, id) == victims.end()) return false;
  const Attempt& attempt = *state.find(id)->attempt;
  return attempt.end || attempt.state == AttemptState::suspending;
}

bool has_host(const Node& node, const Job& holder, const RankPlacement& place,
              const HostTaken& taken) {
  const auto found = taken.find(place.node);
  return node.has_host_now(place.gpus, host_ask(*holder.spec),
                           found == taken.end() ? HostParts{} : found->second);
}

// … and what is held there for others is left to them: it was reckoned with when its victims were
// chosen, and those of the others need not make up for it. Whoever starts in this pass is still
// among them.
bool has_host_beside_held(const Node& node, const Job& holder, const RankPlacement& place) {
  HostParts held;
  for (const Held& other : node.held) {
    if (other.job == holder.id) continue;
    held += host_use(node.facts, other.gpus.count(), other.ask);
  }
  return node.has_host_now(place.gpus, host_ask(*holder.spec), held);
}

// Of one node.
std::set<JobId> waits_for_on(const ClusterState& state, const Job& holder,
                             const RankPlacement& place, const HostTaken& taken) {
  const Node& node = *state.find(place.node);
  std::set<JobId> jobs;
  bool has_others = false;
  for (const Occupant& occupant : node.occupants) {
    if ((occupant.gpus & place.gpus).is_empty()) {
      has_others = true;
    } else {
      jobs.insert(occupant.job);
    }
  }
  if (!has_others) return jobs;
  if (has_host(node, holder, place, taken) && has_host_beside_held(node, holder, place)) {
    return jobs;
  }
  for (const Occupant& occupant : node.occupants) {
    if (is_going(state, holder, occupant.job)) jobs.insert(occupant.job);
  }
  return jobs;
}

}  // namespace

std::set<JobId> waits_for(const ClusterState& state, const Job& holder, const HostTaken& taken) {
  std::set<JobId> jobs;
  for (const RankPlacement& place : holder.reservation->placement) {
    jobs.merge(waits_for_on(state, holder, place, taken));
  }
  return jobs;
}

const Node* node_too_small(const ClusterState& state, const Job& holder, const HostTaken& taken) {
  for (const RankPlacement& place : holder.reservation->placement) {
    const Node& node = *state.find(place.node);
    if (has_host(node, holder, place, taken)) continue;
    if (waits_for_on(state, holder, place, taken).empty()) return &node;
  }
  return nullptr;
}

}  // namespace hai
