#pragma once
// `hai-agent --check-health`: every check of this node once, for whoever stands before it.

#include "agent/agent_config.h"

namespace hai {

// What the command line says otherwise than the config; "" = nothing.
struct HealthOverrides {
  std::string sys_root;
  std::string proc_root;
  std::string kmsg;
  std::string nvml_library;
};
void apply(const HealthOverrides& overrides, HealthConfig& config);

// Prints the results; false if one of them fails. May run beside the agent and changes nothing.
Result<bool> check_health(const AgentConfig& config, bool as_json);

}  // namespace hai
