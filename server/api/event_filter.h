#pragma once
// Which events somebody wants and may see.

#include <set>
#include <string>
#include <vector>

#include "server/control/decision.h"

namespace hai {

struct EventFilter {
  JobId job;                                 // none = any
  NodeId node;                               // none = any
  std::set<std::string, std::less<>> kinds;  // empty = any
  bool sees_people = false;                  // users and tokens are operators' business

  // not_found for an unknown node.
  static Result<EventFilter> make(const ClusterState& state, const Actor& actor, JobId job,
                                  const std::string& node, const std::vector<std::string>& kinds);
  bool passes(const Event& event) const;
};

}  // namespace hai
