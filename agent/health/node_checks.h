#pragma once
// All checks of a node, made as its config says.

#include <memory>
#include <string>
#include <vector>

#include "agent/health/check.h"
#include "agent/health/gpu_reading_board.h"
#include "agent/health/health_config.h"

namespace hai {

struct NodeChecksOptions {
  HealthConfig config;
  std::string data_dir;  // its file system must have room; what the kernel has reported is kept
                         // there. "" = nowhere
  std::string boot_id;
  std::string agent_version;
  bool is_agent = true;  // false = somebody else looks once beside it, and keeps nothing
  std::shared_ptr<GpuReadingBoard> gpu_board;  // null = nobody wants the readings
  int simulated_gpus = 0;  // have no driver: looked at only if the config names an NVML library
};

// invalid_argument if a table of the config cannot be used.
Result<std::vector<std::unique_ptr<Check>>> make_node_checks(const NodeChecksOptions& options);

}  // namespace hai
