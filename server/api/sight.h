#pragma once
// Whose jobs somebody sees (`visibility` of the server's config). Of others' he learns totals only:
// lists leave them out, by number they do not exist, and sentences about his own jobs do not name
// them. Administrators and operators see all. The one place where that is decided.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/api/visibility.h"
#include "server/control/command.h"
#include "server/model/cluster_state.h"

namespace hai {

// As of one moment; a value for any thread.
struct Sight {
  std::optional<std::set<std::string>> users;  // whose jobs; none = everybody's

  static Sight of(Visibility visibility, const ClusterState& state, const Actor& actor);

  bool is_limited() const { return users.has_value(); }
  bool sees(const std::string& user) const { return !users || users->contains(user); }
  // not_found for the first of these jobs that is not seen; what is no number is one's own.
  Status check(const ClusterState& state, const std::vector<std::string>& jobs) const;
  // The sentence without the names of jobs that are not to be seen: "job 17 (train) of ann", as
  // planner and controller write it. Of JSON too.
  std::string clean(std::string text) const;

  bool operator==(const Sight&) const = default;
};

}  // namespace hai
