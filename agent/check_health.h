#pragma once
// `hai-agent --check-health`: every check of this node once, for whoever stands before it.

#include <vector>

#include "agent/agent_config.h"
#include "common/health.h"

namespace hai {

// What the command line says otherwise than the config; "" = nothing.
struct HealthOverrides {
  std::string sys_root;
  std::string proc_root;
  std::string kmsg;
  std::string nvml_library;
};
void apply(const HealthOverrides& overrides, HealthConfig& config);

// The results of every check, run once.
Result<std::vector<CheckResult>> health_results(const AgentConfig& config);

// Prints the results, and what they say of the node; false if it is not fit for jobs: something of
// tier validate or worse, or a check that does not end. May run beside the agent, knows what that
// one keeps, and changes nothing.
Result<bool> check_health(const AgentConfig& config, bool as_json);

}  // namespace hai
