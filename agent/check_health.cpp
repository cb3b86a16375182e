#include "agent/check_health.h"

#include <fmt/core.h>

#include "agent/health/health_monitor.h"
#include "agent/health/health_report.h"
#include "agent/health/node_checks.h"
#include "agent/os/host_facts.h"
#include "common/asio_loop.h"
#include "common/version.h"

namespace hai {

void apply(const HealthOverrides& overrides, HealthConfig& config) {
  if (!overrides.sys_root.empty()) config.sys_root = overrides.sys_root;
  if (!overrides.proc_root.empty()) config.proc_root = overrides.proc_root;
  if (!overrides.kmsg.empty()) config.kmsg = overrides.kmsg;
  if (!overrides.nvml_library.empty()) config.nvml_library = overrides.nvml_library;
}

Result<bool> check_health(const AgentConfig& config, bool as_json) {
  Result<std::vector<std::unique_ptr<Check>>> checks =
      make_node_checks({.config = config.health,
                        .data_dir = config.data_dir,
                        .boot_id = gather_host_facts().boot_id,
                        .agent_version = std::string(version()),
                        .is_agent = false,
                        .simulated_gpus = config.simulate_gpus});
  if (!checks.is_ok()) return checks.status();
  AsioLoop loop;
  HealthMonitor monitor(loop, std::move(checks).value());
  monitor.run_once([&loop] { loop.stop(); });
  loop.run();
  fmt::print("{}", as_json ? format_health_json(monitor.results())
                           : format_health_table(monitor.results()));
  return !has_failure(monitor.results());
}

}  // namespace hai
