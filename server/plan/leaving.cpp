#include "server/plan/leaving.h"

#include <algorithm>

namespace hai {
namespace {

// With more on one node each waits for its own victims rather than to look at every set of them.
constexpr size_t kOthersMax = 6;

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

HostParts use_of(const Node& node, GpuSet gpus, HostAsk ask) {
  return host_use(node.facts, gpus.count(), ask);
}

// What these of whom something is held for will take of the node, less what their victims leave.
HostParts needed_by(const ClusterState& state, const Node& node, const std::vector<Held>& holders,
                    unsigned set) {
  HostParts parts;
  std::set<JobId> gone;
  for (size_t i = 0; i < holders.size(); ++i) {
    if ((set >> i & 1) == 0) continue;
    parts += use_of(node, holders[i].gpus, holders[i].ask);
    const Job& holder = *state.find(holders[i].job);
    for (const Occupant& occupant : node.occupants) {
      if (!is_going(state, holder, occupant.job) || !gone.insert(occupant.job).second) continue;
      parts -= use_of(node, occupant.gpus, occupant.ask);
    }
  }
  return parts;
}

// … and leaves the others that something is held for on the node what they need, whichever of them
// start next, when their own victims are gone: nobody else leaves for them.
bool leaves_what_is_held(const ClusterState& state, const Node& node, const Job& holder,
                         const RankPlacement& place, const HostTaken& taken) {
  HostParts all = taken_of(node, taken);
  std::vector<Held> others;
  for (const Held& held : node.held) {
    if (held.job == holder.id || taken.by.contains(held.job)) continue;
    others.push_back(held);
    all += use_of(node, held.gpus, held.ask);
  }
  const HostAsk ask = host_ask(*holder.spec);
  if (node.has_host_now(place.gpus, ask, all)) return true;
  if (others.size() > kOthersMax) return false;
  for (unsigned set = 1; set < 1U << others.size(); ++set) {
    const HostParts parts = taken_of(node, taken) + needed_by(state, node, others, set);
    if (!node.has_host_now(place.gpus, ask, parts)) return false;
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
