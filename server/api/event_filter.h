#pragma once
// Which events somebody wants and may see.

#include <set>
#include <string>
#include <vector>

#include "server/api/sight.h"
#include "server/control/verbs/decide.h"

namespace hai {

struct EventFilter {
  JobId job;                                 // none = any
  std::set<NodeId> nodes;                    // empty = any
  std::set<std::string, std::less<>> kinds;  // empty = any
  bool sees_people = false;                  // users and tokens are operators' business

  Sight sight;
  std::string owner;  // of `job`, which is one that he sees

  // `nodes` is a host list; not_found for one with unknown nodes.
  static Result<EventFilter> make(const ClusterState& state, const Actor& actor, const Sight& sight,
                                  JobId job, const std::string& owner, const std::string& nodes,
                                  const std::vector<std::string>& kinds);
  // Whose job the event is about, as far as that matters to who asks.
  std::string owner_of(const ClusterState& state, const Event& event) const;
  bool passes(const ClusterState& state, const Event& event) const;
  // `whose` as owner_of() or job_owner() gives it.
  bool passes(const Event& event, const std::string& whose) const;
};

// What a program says of itself: a checkpoint's path, its state. Not for who sees a row.
bool is_program_word(const EventBody& body);
// Whose job the event is about; "" for none, and for one that is not in memory any more.
std::string job_owner(const ClusterState& state, const EventBody& body);

}  // namespace hai
