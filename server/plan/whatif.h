#pragma once
// How a change would turn out: the planner is run on two copies of the state, with and without it,
// until nothing moves any more, and the jobs that fare differently are listed.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/plan/virtual_cluster.h"

namespace hai {

enum class Effect {
  starts,
  suspended,      // runs now, and would leave
  waits,          // would have started, or is new
  moves,          // runs now, and would go on elsewhere
  keeps_running,  // runs now, and would have left
};
std::string_view to_string(Effect effect);

struct JobDifference {
  JobId job;
  Effect effect = Effect::starts;
  std::string text;
  std::vector<std::string> nodes;         // after the change
  std::vector<std::string> nodes_before;  // where it runs now, or would without the change
};

// A state in which all that is asked to leave has left at once and all that can start has started.
struct Settled {
  VirtualCluster cluster;
  std::map<JobId, std::string> why_left;
};
Settled settle(ClusterState state, const Knobs& knobs, UnixTime now);

// `before` and `after` are settled copies of `live` without and with the change. By job.
std::vector<JobDifference> compare(const ClusterState& live, const Settled& before,
                                   const Settled& after);

}  // namespace hai
