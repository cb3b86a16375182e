#pragma once
// Who has to leave so that a job can start: among the legal victims a set with little lost work,
// and none that could have stayed. Greedy by lost work per node and by lost work per freed node,
// the better of the two; then every victim is proved necessary. Exact for jobs of one node and for
// victims of one node, a heuristic for overlapping gangs (tests/property measures how good).

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

// `asked`: jobs that this pass has told to leave already; whoever leaves costs nothing more.
std::optional<Preemption> preempt(const ClusterState& state, const Capacity& capacity,
                                  const Knobs& knobs, UnixTime now, const Demand& demand,
                                  Priority level, const std::set<JobId>& asked);

// Of lower level, or leaving in any case. One that leaves only for another job of its own level or
// above is none: it goes on if that job needs it no more.
bool is_legal_victim(const Job& job, Priority level);

}  // namespace hai
