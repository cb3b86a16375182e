#pragma once
// What a config says of the checks of a node, under "health".

#include <map>
#include <string>
#include <vector>

#include "agent/health/health_limits.h"
#include "common/config/yaml_reader.h"

namespace hai {

struct HealthConfig {
  bool is_on = true;
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  std::string kmsg = "/dev/kmsg";
  std::string nvml_library;  // "" = the system's
  std::string xid_table;     // file; "" = the one built in
  std::string kernel_table;
  std::string manifest;  // versions the group should have
  std::vector<std::string> mounts;
  std::vector<std::string> file_systems;
  std::vector<std::string> disks;
  std::map<std::string, int64_t> infiniband;  // port → Gb/s expected
  std::vector<std::string> infiniband_excluded;
  int gpus = -1;  // −1 = as many as the driver has found
  int gpu_pcie_width = 0;
  int gpu_nvlinks = -1;  // active ones of each GPU; −1 = those that ever were
  int cpus = 0;
  int64_t memory_bytes = 0;
  std::string clock_source;
  HealthLimits limits;
};

void read_health_config(YamlReader& reader, HealthConfig* config);

}  // namespace hai
