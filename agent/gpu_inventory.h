#pragma once
// The GPUs of this machine, as NVIDIA's kernel driver lists them under /proc/driver/nvidia/gpus.

#include <string>
#include <vector>

namespace hai {

struct GpuInventory {
  int count = 0;
  std::string model;                       // of the first
  std::vector<int> minors;                 // N of each one's /dev/nvidiaN, by index
  std::vector<std::string> pci_addresses;  // "0000:17:00.0", by index
};

GpuInventory find_gpus(const std::string& proc_root = "/proc");

}  // namespace hai
