#pragma once
// Who has to leave so that a job can start: among the legal victims a set with little lost work,
// and none that could have stayed. Greedy by marginal cost per node, then every victim is proved
// necessary; exact for whole-node jobs of one node, a heuristic for overlapping gangs.

#include <optional>
#include <set>
#include <vector>

#include "common/knobs.h"
#include "server/plan/capacity.h"
#include "server/plan/placement.h"

namespace hai {

struct Preemption {
  Placement placement;
  std::vector<JobId> victims;  // by id; those already leaving included
};

// `taken`: jobs that other reservations of this pass already count on.
std::optional<Preemption> preempt(const ClusterState& state, const Capacity& capacity,
                                  const Knobs& knobs, UnixTime now, const Demand& demand,
                                  Priority level, const std::set<JobId>& taken);

// Lower effective level and not yet leaving, or leaving anyway and promised to nobody.
bool is_legal_victim(const Job& job, Priority level);

}  // namespace hai
