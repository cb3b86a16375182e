#include "server/model/node_health.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {

std::string NodeMark::text() const {
  return about.empty() ? std::string(to_string(kind))
                       : fmt::format("{} {}", to_string(kind), about);
}

const NodeCheck* NodeHealth::find(std::string_view name, std::string_view subject) const {
  const auto found = std::ranges::find_if(checks, [&](const NodeCheck& check) {
    return check.result.name == name && check.result.subject == subject;
  });
  return found == checks.end() ? nullptr : &*found;
}

}  // namespace hai
