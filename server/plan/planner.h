#pragma once
// One planning pass: a pure function of the state, the knobs and the time. Ties break by id;
// nothing is random.

#include "common/knobs.h"
#include "server/model/cluster_state.h"
#include "server/plan/placement.h"
#include "server/plan/plan.h"

namespace hai {

// Stages, in order: reservations that can start or must go; jobs to move off draining nodes; every
// waiting job by level and submit order: start in free capacity, else make room, else say why not;
// victims nobody needs any more go on. Later jobs may start in holes that earlier ones do not fit
// (backfill).
Plan plan(const ClusterState& state, const Knobs& knobs, UnixTime now);

// What a job asks of placement.
Demand demand_of(const Capacity& capacity, const Job& job, const Knobs& knobs, UnixTime now);

}  // namespace hai
