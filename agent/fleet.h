#pragma once
// Many pretended nodes in one process, each with its own agent and its own connection, for scale
// tests: everything but the ranks is real.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent_config.h"
#include "common/loop.h"

namespace hai {

struct FleetOptions {
  int nodes = 0;
  int nodes_per_leaf = 20;
  int leaves_per_zone = 32;
};

class Fleet {
 public:
  // Nodes are called like the config's name with a number ("node-0001"), and stand in leaves and
  // zones of their own.
  Fleet(Loop& loop, const AgentConfig& config, const std::string& agent_token, FleetOptions options,
        uint64_t seed);
  ~Fleet();

  void start();

 private:
  class Peers;
  struct Member;
  std::map<std::string, Peers*> peers_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace hai
