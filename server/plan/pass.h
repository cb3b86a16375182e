#pragma once
// One planning pass over the indexes of a planner.

#include "server/plan/time_sharing.h"

namespace hai {

// Stages, in order: reservations that can start or must go; jobs to move off draining nodes; every
// waiting job in order: start in free capacity, else make room, else wait while later ones start in
// the holes (backfill); victims nobody needs any more go on. Leaves the index as it was.
Plan run_pass(const ClusterState& state, const Knobs& knobs, UnixTime now, PlanIndex& index,
              VictimChoice victims, bool takes_turns, bool looks_at_all, bool with_reasons);

// A waiting job as one who needs room; `feedback_class` as in waiting_class().
Requester requester_of(const PlanIndex& index, UnixTime now, const Job& job, Priority level,
                       int feedback_class, int person);

// Why a job waits that no pass has done anything about, in the numbers of this moment.
PendingReason reason_now(const ClusterState& state, const PlanIndex& index, const Knobs& knobs,
                         UnixTime now, const Job& job);

}  // namespace hai
