#pragma once
// Where the GPUs of this machine sit: beside which memory, CPUs and network cards, as the kernel
// tells under /sys.

#include <string>
#include <vector>

#include "agent/core/environment.h"
#include "common/gpu_set.h"

namespace hai {

struct GpuPlace {
  int numa_node = 0;      // -1 = the kernel does not tell
  std::vector<int> cpus;  // of that node, those that the agent may use; increasing; {} = not known
  std::string nic;        // the nearest RDMA device, as "mlx5_0"; "" = the machine has none
  bool operator==(const GpuPlace&) const = default;
};

// One of each GPU, whose PCI addresses ("0000:17:00.0") are given. One of which the kernel does not
// tell where it is, or beside which the agent may use no CPU (a site may have kept some for the
// system), has none; empty if that is so of all. `usable_cpus`: increasing.
std::vector<GpuPlace> find_gpu_places(const std::vector<std::string>& pci_addresses,
                                      const std::vector<int>& usable_cpus,
                                      const std::string& sys_root = "/sys");

// HAI_GPU_NUMA and HAI_GPU_NICS, an entry for each of `gpus` in their order; nothing if nothing is
// known.
Environment variables_of_places(const std::vector<GpuPlace>& places, GpuSet gpus);

// The CPUs of a rank with some of the node's GPUs: those of its GPUs' NUMA nodes. Empty = all,
// which is also for ranks with all GPUs or none, for one with a GPU that is nobody knows where, and
// for one that asks for more CPUs than are near.
std::vector<int> near_cpus(const std::vector<GpuPlace>& places, GpuSet gpus, int cpus_asked);

}  // namespace hai
