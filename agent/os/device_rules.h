#pragma once
// Which device nodes a rank may open: the usual ones, its GPUs, the network adapters, and those
// that the site adds. By number, as the kernel asks: see device_filter.h and cgroup.h.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/gpu_set.h"

namespace hai {

struct DeviceRule {
  static constexpr int kAnyMinor = -1;
  char kind = 'c';  // or 'b'
  int major = 0;
  int minor = kAnyMinor;
  auto operator<=>(const DeviceRule&) const = default;
};

struct DeviceNeeds {
  GpuSet gpus;
  // /dev/nvidiaN of each GPU of the node; empty: its GPUs are simulated, and real ones, if there
  // are any, open to all.
  std::vector<int> gpu_minors;
  // The RDMA devices it was given, as "mlx5_0"; nullopt: all.
  std::optional<std::set<std::string>> nics = {};
  std::vector<std::string> more;  // paths below dev_root's /dev, with * and ?
  std::string dev_root = "/dev";
  std::string sys_root = "/sys";
};

// Sorted. What does not exist on this node is left out.
std::vector<DeviceRule> device_rules(const DeviceNeeds& needs);

}  // namespace hai
