#pragma once
// What a rank does at a moment, as its machine counts it: processor time of its processes, what the
// node's ports have received, how busy its GPUs are. For ranks that are silent; see
// agent/os/hang_watch.

#include <memory>
#include <string>
#include <vector>

#include "agent/health/health_config.h"
#include "agent/health/nvml_library.h"
#include "agent/os/os_rank_host.h"
#include "common/hang_signs.h"
#include "common/loop.h"

namespace hai {

class ActivitySampler {
 public:
  ActivitySampler(Loop& loop, HealthConfig config, bool has_gpus);
  ActivitySample sample(const RankInUse& rank);

 private:
  std::optional<int> gpu_utilization(GpuSet gpus);

  Loop& loop_;
  const HealthConfig config_;
  const bool has_gpus_;
};

}  // namespace hai
