#include "agent/hang/device_activity.h"

#include <fmt/core.h>
#include <poll.h>

#include "agent/health/gpu_sample.h"
#include "agent/health/ib_port.h"

namespace hai {

namespace {

constexpr int kBetweenMs = 1000;

std::string describe_gpus(const std::string& nvml_library) {
  const auto nvml = NvmlLibrary::open(nvml_library);
  if (!nvml.is_ok()) return {};
  unsigned count = 0;
  if (nvml.value()->count(&count) != nvml::kSuccess) return "GPUs: NVML does not answer\n";
  std::string text;
  for (int gpu = 0; gpu < static_cast<int>(count); ++gpu) {
    const GpuSample sample = read_gpu(*nvml.value(), gpu);
    text += fmt::format("GPU {}: ", gpu);
    if (sample.trouble != nvml::kSuccess) {
      text += sample.trouble_text + "\n";
      continue;
    }
    text += sample.utilization_percent ? fmt::format("{} % busy", *sample.utilization_percent)
                                       : std::string("use not known");
    if (sample.compute_pids) {
      text += ", processes";
      for (const pid_t pid : *sample.compute_pids) text += fmt::format(" {}", pid);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string describe_device_activity(const std::string& sys_root, const std::string& nvml_library) {
  const std::vector<IbPort> before = read_ib_ports(sys_root, {});
  if (!before.empty()) ::poll(nullptr, 0, kBetweenMs);
  const std::vector<IbPort> after = read_ib_ports(sys_root, {});
  std::string text = describe_gpus(nvml_library);
  for (size_t i = 0; i < before.size() && i < after.size(); ++i) {
    if (before[i].name != after[i].name) break;
    text += fmt::format("{}: {}", after[i].name, after[i].state);
    if (before[i].received_words && after[i].received_words)
      text += fmt::format(", received {} bytes in {} ms",
                          (*after[i].received_words - *before[i].received_words) * kBytesPerWord,
                          kBetweenMs);
    text += "\n";
  }
  return text;
}

}  // namespace hai
