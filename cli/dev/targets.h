#pragma once
// What hai dev kill and start act on: "server", "postgres", "fleet",
// "agent:NODES", "node:NODES".

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai::cli {

struct DevTarget {
  enum class Kind { server, postgres, agent, node, fleet };
  Kind kind = Kind::server;
  std::string node;  // of agent and node
  bool operator==(const DevTarget&) const = default;
};

// One for each node of a list: "node:node-[2-3]".
Result<std::vector<DevTarget>> parse_target(std::string_view text);

}  // namespace hai::cli
