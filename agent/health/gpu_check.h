#pragma once
// The GPUs of the node as NVML sees them.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/health/check.h"
#include "agent/health/gpu_judge.h"
#include "agent/health/gpu_reading_board.h"
#include "agent/health/nvml_library.h"

namespace hai {

struct GpuCheckOptions {
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string proc_root = "/proc";
  int expected_gpus = -1;  // −1 = as many as /proc/driver/nvidia/gpus had at first
  int64_t expected_pcie_width = 0;
  HealthLimits limits;
  std::shared_ptr<GpuReadingBoard> board;  // null = nobody reads it
};

class GpuCheck final : public Check {
 public:
  explicit GpuCheck(GpuCheckOptions options);
  std::vector<CheckResult> run(const CheckInput& input) override;

 private:
  std::vector<CheckResult> judge_absence(const Status& status) const;
  std::vector<CheckResult> look(const CheckInput& input);
  void show(const std::map<int, GpuHistory>& gpus) const;

  GpuCheckOptions options_;
  std::unique_ptr<NvmlLibrary> nvml_;
  std::map<int, GpuHistory> gpus_;
  bool is_expectation_guessed_ = false;
};

}  // namespace hai
