#include "agent/activity_sampler.h"

#include <algorithm>

#include "agent/hang/rank_activity.h"
#include "agent/os/process_table.h"

namespace hai {

ActivitySampler::ActivitySampler(Loop& loop, HealthConfig config, bool has_gpus)
    : loop_(loop), config_(std::move(config)), has_gpus_(has_gpus) {}

ActivitySample ActivitySampler::sample(const RankInUse& rank) {
  ActivitySample sample{.at = loop_.now()};
  if (rank.shim > 0) sample.cpu_time = rank_cpu_time(rank.cgroups, descendants_of(rank.shim));
  if (rank.is_distributed) {
    sample.received_bytes = received_bytes(config_.sys_root, config_.infiniband_excluded);
  }
  if (has_gpus_ && !rank.gpus.is_empty()) {
    sample.gpu_utilization_percent = gpu_utilization(rank.gpus);
  }
  return sample;
}

// The library is loaded for each look and not kept: looks are rare.
std::optional<int> ActivitySampler::gpu_utilization(GpuSet gpus) {
  const Result<std::unique_ptr<NvmlLibrary>> nvml =
      NvmlLibrary::open(config_.nvml_library.empty() ? "libnvidia-ml.so.1" : config_.nvml_library);
  if (!nvml.is_ok()) return std::nullopt;
  std::optional<int> busiest;
  for (int index = 0; index < GpuSet::kMax; ++index) {
    if (!gpus.contains(index)) continue;
    nvml::Device device{};
    nvml::Utilization utilization{};
    if (nvml.value()->handle_by_index(static_cast<unsigned>(index), &device) != nvml::kSuccess ||
        nvml.value()->utilization(device, &utilization) != nvml::kSuccess) {
      continue;
    }
    busiest = std::max(busiest.value_or(0), static_cast<int>(utilization.gpu));
  }
  return busiest;
}

}  // namespace hai
