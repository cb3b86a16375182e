#pragma once
// Many pretended nodes in one process, each with its own agent and its own connection, for scale
// tests and demos: everything but the ranks is real. Loop thread only.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent_config.h"
#include "agent/fleet/fleet_node.h"
#include "common/fabric_shape.h"
#include "common/rng.h"
#include "common/tls/authority.h"

namespace hai {

struct FleetOptions {
  int nodes = 0;
  FabricShape shape = FabricShape::two_zone;
  std::optional<Duration> rank_length;  // of programs other than sleep; nullopt = until told to end
  // Issues each node's certificate; none: nodes prove by what the config names.
  std::optional<KeyAndCertificate> authority;
};

class Fleet {
 public:
  // Nodes are called like the config's name with a number ("node-0001").
  Fleet(Loop& loop, const AgentConfig& config, const std::string& agent_token, FleetOptions options,
        uint64_t seed);
  ~Fleet();

  // Nodes connect one after the other, a thousand a second: as many handshakes at once as there are
  // nodes would make each of them late.
  void start();

  // "all", "random:5", "zone:B", "leaf:leaf-3" or a host list; not_found names what is not there.
  Result<std::vector<FleetNode*>> select(std::string_view text);
  const std::vector<std::unique_ptr<FleetNode>>& nodes() const { return nodes_; }

 private:
  void start_from(size_t first);
  std::vector<FleetNode*> choose_random(size_t count);

  Loop& loop_;
  Rng rng_;
  FleetPeers peers_;
  std::vector<std::unique_ptr<FleetNode>> nodes_;
  TimerId start_timer_ = 0;
};

}  // namespace hai
