#include "agent/check_health.h"

#include <fmt/core.h>

#include "agent/health/health_monitor.h"
#include "agent/health/health_report.h"
#include "agent/health/log_store_check.h"
#include "agent/health/node_checks.h"
#include "agent/node_health.h"
#include "common/asio_loop.h"
#include "common/log_store/log_store.h"
#include "common/version.h"

namespace hai {

void apply(const HealthOverrides& overrides, HealthConfig& config) {
  if (!overrides.sys_root.empty()) config.sys_root = overrides.sys_root;
  if (!overrides.proc_root.empty()) config.proc_root = overrides.proc_root;
  if (!overrides.kmsg.empty()) config.kmsg = overrides.kmsg;
  if (!overrides.nvml_library.empty()) config.nvml_library = overrides.nvml_library;
}

Result<std::vector<CheckResult>> health_results(const AgentConfig& config) {
  const std::string boot_id = node_boot_id(config.health);
  Result<std::vector<std::unique_ptr<Check>>> checks =
      make_node_checks({.config = config.health,
                        .data_dir = config.data_dir,
                        .boot_id = boot_id,
                        .agent_version = std::string(version()),
                        .is_agent = false,
                        .simulated_gpus = config.simulate_gpus});
  if (!checks.is_ok()) return checks.status();
  if (const std::string& store = config.logs.path; !store.empty()) {
    checks.value().push_back(
        std::make_unique<LogStoreCheck>([store] { return LogStore::open(store).status(); }));
  }
  AsioLoop loop;
  HealthMonitor monitor(loop, std::move(checks).value());
  if (!config.data_dir.empty()) {
    monitor.keep_at(health_record_path(config.data_dir), boot_id, Keeping::reads);
  }
  monitor.run_once([&loop] { loop.stop(); });
  loop.run();
  // A driver that answers nobody serves no job. The agent waits longer before it says so.
  std::vector<CheckResult> results = monitor.results();
  for (CheckResult& stuck : monitor.stuck_now()) results.push_back(std::move(stuck));
  return results;
}

Result<bool> check_health(const AgentConfig& config, bool as_json) {
  const Result<std::vector<CheckResult>> looked = health_results(config);
  RETURN_IF_ERROR(looked.status());
  const std::vector<CheckResult>& results = looked.value();
  fmt::print("{}", as_json ? format_health_json(results)
                           : fmt::format("{}\n{}\n", format_health_table(results),
                                         format_fitness(results)));
  return is_fit(results);
}

}  // namespace hai
