#pragma once
// What hai dev kill and start act on: "server", "postgres", "agent:NAME", "node:NAME".

#include <string>
#include <string_view>

#include "common/status.h"

namespace hai::cli {

struct DevTarget {
  enum class Kind { server, postgres, agent, node };
  Kind kind = Kind::server;
  std::string node;  // of agent and node
  bool operator==(const DevTarget&) const = default;
};

Result<DevTarget> parse_target(std::string_view text);

}  // namespace hai::cli
