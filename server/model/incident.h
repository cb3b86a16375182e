#pragma once
// Something an operator should know of and that has a beginning and an end: one row for what would
// otherwise be a thousand alarms.

#include <optional>
#include <string>
#include <vector>

#include "common/id.h"
#include "common/time.h"

namespace hai {

using IncidentId = Id<struct IncidentTag>;

struct Incident {
  IncidentId id;
  std::string kind;     // "mass_loss"
  std::string subject;  // "leaf/leaf-3", "cluster"
  std::string summary;  // one sentence with numbers
  UnixTime opened_at{};
  std::optional<UnixTime> closed_at;
  std::string close_reason;
  std::vector<NodeId> nodes;  // whom it concerns
  bool operator==(const Incident&) const = default;
};

}  // namespace hai
