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

HostParts taken_of(const Node& node, const HostTaken& taken) {
  const auto found = taken.of_node.find(node.id);
  return found == taken.of_node.end() ? HostParts{} : found->second;
}

bool has_host(const Node& node, const Job& holder, const RankPlacement& place,
              const HostTaken& taken) {
  return node.has_host_now(place.gpus, host_ask(*holder.spec), taken_of(node, taken));
}

// … and leaves each of the others that something is held for on the node what it needs when its own
// victims are gone: nobody else leaves for it.
bool leaves_what_is_held(const ClusterState& state, const Node& node, const Job& holder,
                         const RankPlacement& place, const HostTaken& taken) {
  for (const Held& held : node.held) {
    if (held.job == holder.id || taken.by.contains(held.job)) continue;
    const Job& other = *state.find(held.job);
    HostParts parts = taken_of(node, taken) + host_use(node.facts, held.gpus.count(), held.ask);
    for (const Occupant& occupant : node.occupants) {
      if (!is_going(state, other, occupant.job)) continue;
      parts -= host_use(node.facts, occupant.gpus.count(), occupant.ask);
    }
    if (!node.has_host_now(place.gpus, host_ask(*holder.spec), parts)) return false;
  }
  return true;
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
  if (has_host(node, holder, place, taken) &&
      leaves_what_is_held(state, node, holder, place, taken)) {
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
