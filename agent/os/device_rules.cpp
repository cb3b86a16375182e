#include "agent/os/device_rules.h"

#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>

#include "agent/os/files.h"

namespace hai {

namespace {

// Numbers that Linux gave them for good (Documentation/admin-guide/devices.txt).
constexpr DeviceRule kUsual[] = {
    {'c', 1, 3},                        // null
    {'c', 1, 5},                        // zero
    {'c', 1, 7},                        // full
    {'c', 1, 8},                        // random
    {'c', 1, 9},                        // urandom
    {'c', 5, 0},                        // tty
    {'c', 5, 2},                        // ptmx
    {'c', 136, DeviceRule::kAnyMinor},  // pts
};

// What CUDA opens besides the GPUs, and what makes RDMA connections. Not RDMA's management: umad,
// issm.
constexpr const char* kOfAllRanks[] = {"nvidiactl",         "nvidia-uvm",
                                       "nvidia-uvm-tools",  "nvidia-modeset",
                                       "nvidia-fs*",        "nvidia-caps-imex-channels/*",
                                       "infiniband/rdma_cm"};

constexpr size_t kNameBytesMax = 256;

void add_matching(const std::string& pattern, std::vector<DeviceRule>& out) {
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      struct stat info {};
      if (::stat(found.gl_pathv[i], &info) != 0) continue;
      if (!S_ISCHR(info.st_mode) && !S_ISBLK(info.st_mode)) continue;
      out.push_back({.kind = S_ISCHR(info.st_mode) ? 'c' : 'b',
                     .major = static_cast<int>(major(info.st_rdev)),
                     .minor = static_cast<int>(minor(info.st_rdev))});
    }
  }
  ::globfree(&found);
}

// Which device node is which RDMA device's stands in /sys/class/infiniband_verbs/uverbsN/ibdev.
void add_nics(const DeviceNeeds& needs, std::vector<DeviceRule>& out) {
  if (!needs.nics) return add_matching(needs.dev_root + "/infiniband/uverbs*", out);
  std::error_code error;
  const std::string known = needs.sys_root + "/class/infiniband_verbs";
  for (const auto& entry : std::filesystem::directory_iterator(known, error)) {
    const Result<std::string> text = read_file((entry.path() / "ibdev").string(), kNameBytesMax);
    if (!text.is_ok()) continue;
    const std::string nic = text.value().substr(0, text.value().find('\n'));
    if (!needs.nics->contains(nic)) continue;
    add_matching(needs.dev_root + "/infiniband/" + entry.path().filename().string(), out);
  }
}

}  // namespace

std::vector<DeviceRule> device_rules(const DeviceNeeds& needs) {
  std::vector<DeviceRule> rules(std::begin(kUsual), std::end(kUsual));
  for (const char* name : kOfAllRanks) add_matching(needs.dev_root + "/" + name, rules);
  if (needs.gpu_minors.empty()) add_matching(needs.dev_root + "/nvidia[0-9]*", rules);
  for (size_t gpu = 0; gpu < needs.gpu_minors.size(); ++gpu) {
    if (!needs.gpus.contains(static_cast<int>(gpu))) continue;
    add_matching(needs.dev_root + "/nvidia" + std::to_string(needs.gpu_minors[gpu]), rules);
  }
  add_nics(needs, rules);
  for (const std::string& pattern : needs.more) add_matching(pattern, rules);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

}  // namespace hai
