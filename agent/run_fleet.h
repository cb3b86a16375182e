#pragma once
// `hai-agent --fleet N`: the process of a fleet, from its options to its end.

#include <string>

#include "agent/agent_config.h"
#include "common/status.h"

namespace CLI {
class App;
}

namespace hai {

struct FleetArguments {
  int nodes = 0;  // 0 = no fleet
  std::string topology = "two-zone";
  double rank_seconds = 0;  // 0 = until told to end
  std::string control;      // "" = data_dir/fleet.sock
  std::string authority;    // folder of `hai-server ca`; "" = nodes have what the config names
};
void add_fleet_options(CLI::App& app, FleetArguments& arguments);

// Returns when a signal ends it.
Status run_fleet(const AgentConfig& config, const std::string& token,
                 const FleetArguments& arguments);

}  // namespace hai
