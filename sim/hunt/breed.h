#pragma once
// New worlds for a hunt: fresh ones, short and crowded, with faults at decision points; and
// children of worlds that reached something new.

#include "common/rng.h"
#include "sim/world_plan.h"

namespace hai {

WorldPlan fresh_world(Rng& rng);
// A few changes of `parent`; some of them taken from `other`.
WorldPlan child_of(const WorldPlan& parent, const WorldPlan& other, Rng& rng);

}  // namespace hai
