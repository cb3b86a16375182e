#pragma once
// The scheduler that HAI-Platform publishes, as a baseline: jobs by priority, then submit order;
// those may run whose nodes, added up, fit the nodes that take jobs, up to the first that does not
// (a strict prefix: no backfill, no network); nodes are drawn at random; whoever runs and falls out
// of the prefix is suspended.
//
// It knows whole nodes only. For shares of a node: all shares of the prefix count as the nodes they
// would fill if packed; one starts on a random node that has shares already and room, else on a
// random free node. A job of the prefix for which there is no node free now (shares stand
// scattered, or others have not left yet) waits until there is; those after it need not.

#include <cstdint>
#include <memory>

#include "server/plan/planner.h"

namespace hai {

std::unique_ptr<Planner> make_hai_open_planner(uint64_t seed);

}  // namespace hai
