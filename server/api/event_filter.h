#pragma once
// Which events somebody wants and may see.

#include <set>
#include <string>
#include <vector>

#include "server/control/verbs/decide.h"

namespace hai {

struct EventFilter {
  JobId job;                                 // none = any
  std::set<NodeId> nodes;                    // empty = any
  std::set<std::string, std::less<>> kinds;  // empty = any
  bool sees_people = false;                  // users and tokens are operators' business

  // `nodes` is a host list; not_found for one with unknown nodes.
  static Result<EventFilter> make(const ClusterState& state, const Actor& actor, JobId job,
                                  const std::string& nodes, const std::vector<std::string>& kinds);
  bool passes(const Event& event) const;
};

}  // namespace hai
