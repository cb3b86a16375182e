#include "agent/gpu_inventory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "common/gpu_set.h"

namespace hai {

namespace {

// "Model: \t\t NVIDIA H200"
std::string read_model(const std::filesystem::path& information) {
  static constexpr std::string_view kKey = "Model:";
  std::ifstream file(information);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kKey)) continue;
    const size_t start = line.find_first_not_of(" \t", kKey.size());
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
  return {.count = std::min(static_cast<int>(found.size()), GpuSet::kMax),
          .model = read_model(found.front() / "information")};
}

}  // namespace hai
