#include "agent/gpu_inventory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "common/gpu_set.h"
#include "common/whole_number.h"

namespace hai {

namespace {

// "Model: \t\t NVIDIA H200"
std::string read_value(const std::filesystem::path& gpu, std::string_view key) {
  std::ifstream file(gpu / "information");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t start = line.find_first_not_of(" \t", key.size());
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

}  // namespace

GpuInventory find_gpus(const std::string& proc_root) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(proc_root + "/driver/nvidia/gpus", error)) {
    found.push_back(entry.path());
  }
  if (found.empty()) return {};
  std::sort(found.begin(), found.end());
  if (found.size() > size_t{GpuSet::kMax}) found.resize(GpuSet::kMax);
  GpuInventory gpus = {.count = static_cast<int>(found.size()),
                       .model = read_value(found.front(), "Model:")};
  for (const std::filesystem::path& gpu : found) {
    // A driver that does not say numbers them by their place on the bus.
    const int index = static_cast<int>(gpus.minors.size());
    gpus.pci_addresses.push_back(gpu.filename().string());
    gpus.minors.push_back(whole_number<int>(read_value(gpu, "Device Minor:")).value_or(index));
  }
  return gpus;
}

}  // namespace hai
