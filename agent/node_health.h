#pragma once
// The production HealthPort: the monitor of agent/health, told how the node is used, and the site's
// repair commands. Owned by main; loop thread only.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/core/health_port.h"
#include "agent/health/gpu_reading_board.h"
#include "agent/health/health_config.h"
#include "agent/health/health_monitor.h"
#include "agent/site_hook.h"
#include "common/loop.h"

namespace hai {

// Changes with each start of the machine: of a node whose /proc is recorded, as the record says.
std::string node_boot_id(const HealthConfig& config);

class LocalHealth final : public HealthPort {
 public:
  // `use` says how the ranks use the node now; one of the checks writes `gpus`.
  // What is found is kept in `data_dir` for the agent's next start in this boot, `boot_id`, or
  // another.
  LocalHealth(Loop& loop, std::vector<std::unique_ptr<Check>> checks, SiteHooks hooks,
              std::string node, std::function<NodeUse()> use,
              std::shared_ptr<const GpuReadingBoard> gpus, const std::string& data_dir,
              const std::string& boot_id);

  void start(std::function<void()> changed) override;
  const std::vector<CheckResult>* results() const override;
  std::vector<GpuReading> gpu_readings() const override { return gpus_->get(); }
  void look(std::function<void()> done) override;
  void clear(const ClearFault& order) override;
  void set_server_skew(Duration skew) override { skew_ = skew; }
  void run_hook(const RunHook& order, std::function<void(HookResult)> done) override;

 private:
  void follow_use();
  void end_look();

  Loop& loop_;
  const SiteHooks hooks_;
  const std::string node_;
  const std::function<NodeUse()> use_;
  const std::shared_ptr<const GpuReadingBoard> gpus_;
  std::optional<Duration> skew_;
  bool is_known_ = false;  // every check has been made, or has had its time
  std::function<void()> changed_;
  std::vector<std::function<void()>> lookers_;
  TimerId look_timer_ = 0;
  HealthMonitor monitor_;
};

}  // namespace hai
