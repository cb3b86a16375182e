#pragma once
// What a server that leads has in memory. All of it can be thrown away at any time: the store and
// the agents' reports bring it back.

#include <map>
#include <memory>
#include <set>

#include "server/control/engine/steady_time.h"
#include "server/control/nodes/lost_history.h"
#include "server/control/sessions.h"
#include "server/plan/planner.h"

namespace hai {

struct Memory {
  std::unique_ptr<ClusterState> state = std::make_unique<ClusterState>();
  Sessions sessions;
  LostHistory history;
  SteadyTime time;
  std::unique_ptr<Planner> planner;
  std::map<JobId, int64_t> progress;  // steps, as running jobs last told
};

}  // namespace hai
