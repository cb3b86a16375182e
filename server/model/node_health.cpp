#include "server/model/node_health.h"

#include <algorithm>

namespace hai {

std::string_view to_string(RepairStep step) {
  switch (step) {
    case RepairStep::none:
      return "none";
    case RepairStep::emptying:
      return "emptying";
    case RepairStep::validating:
      return "validating";
    case RepairStep::repairing:
      return "repairing";
    case RepairStep::bisecting:
      return "bisecting";
    case RepairStep::service:
      return "service";
  }
  return "none";
}

const NodeCheck* NodeHealth::find(std::string_view name, std::string_view subject) const {
  const auto found = std::ranges::find_if(checks, [&](const NodeCheck& check) {
    return check.result.name == name && check.result.subject == subject;
  });
  return found == checks.end() ? nullptr : &*found;
}

}  // namespace hai
