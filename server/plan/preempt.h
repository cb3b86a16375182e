#pragma once
// Who has to leave so that a job can start: among the legal victims a set with little lost work,
// and none that could have stayed. Few victims: every set is tried. Many: greedy by lost work per
// node and by lost work per freed node, the better of the two, and then every victim is proved
// necessary: exact for victims of one node, a heuristic for overlapping gangs (tests/property
// measures how good).

#include <optional>
#include <vector>

#include "common/knobs.h"
#include "server/plan/capacity.h"
#include "server/plan/placement.h"
#include "server/plan/planner.h"
#include "server/plan/victims.h"

namespace hai {

struct Preemption {
  Placement placement;
  std::vector<JobId> victims;  // by id; those already leaving included
  int64_t cost = 0;            // GPU-microseconds
};

struct PreemptContext {
  Capacity& capacity;  // tried on, and left as it was
  const VictimIndex& running;
  const Ledger& ledger;
  const Knobs& knobs;
  UnixTime now;
  VictimChoice choice = VictimChoice::least_lost_work;
};

std::optional<Preemption> preempt(const PreemptContext& context, const Demand& demand,
                                  const Requester& requester);

}  // namespace hai
