#include "agent/confinement_config.h"

#include <fnmatch.h>

#include "agent/os/refused_calls.h"
#include "common/gpu_set.h"

namespace hai {

namespace {

constexpr int64_t kProcessesMost = 4'194'304;  // the kernel's largest number of a process

// Whether the pattern stands for a GPU, whichever the node has.
bool is_of_gpus(const std::string& pattern) {
  for (int gpu = 0; gpu < GpuSet::kMax; ++gpu) {
    const std::string device = fmt::format("/dev/nvidia{}", gpu);
    if (::fnmatch(pattern.c_str(), device.c_str(), FNM_PATHNAME) == 0) return true;
  }
  return false;
}

}  // namespace

void read_confinement(YamlReader& reader, ConfinementSettings* out) {
  if (std::string word; reader.string("isolation", &word)) {
    const Result<Isolation> isolation = parse_isolation(word);
    if (isolation.is_ok()) out->isolation = isolation.value();
    if (!isolation.is_ok()) reader.fail("isolation", isolation.status().message());
  }
  reader.strings("confinement.system_users", &out->system_users);
  reader.integer("confinement.processes_max", &out->processes_max,
                 {.low = 0, .high = kProcessesMost});
  if (reader.strings("confinement.devices", &out->devices)) {
    for (const std::string& path : out->devices) {
      if (!path.starts_with("/dev/")) {
        reader.fail("confinement.devices", fmt::format("must be paths below /dev, has {}", path));
      } else if (is_of_gpus(path)) {
        reader.fail("confinement.devices",
                    fmt::format("{} is also GPUs, which a rank gets with its place", path));
      }
    }
  }
  if (reader.strings("confinement.allowed_calls", &out->allowed_calls)) {
    for (const std::string& call : out->allowed_calls) {
      if (is_refused_call(call)) continue;
      reader.fail("confinement.allowed_calls",
                  fmt::format("{} is no system call that would be refused", call));
    }
  }
}

}  // namespace hai
