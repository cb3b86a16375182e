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
  int expected_gpus = -1;  // −1 = the most that /proc/driver/nvidia/gpus ever had at first
  int64_t expected_pcie_width = 0;
  int64_t expected_nvlinks = -1;  // of each GPU; −1 = those that ever were active
  HealthLimits limits;
  std::shared_ptr<GpuReadingBoard> board;  // null = nobody reads it
};

class GpuCheck final : public Check {
 public:
  explicit GpuCheck(GpuCheckOptions options);
  std::vector<CheckResult> run(const CheckInput& input) override;
  CheckMemory memory() const override;
  void restore(const CheckMemory& memory) override { remembered_ = memory; }

 private:
  std::vector<CheckResult> judge_absence(const Status& status) const;
  std::vector<CheckResult> look(const CheckInput& input);
  void show(const std::map<int, GpuHistory>& gpus) const;
  void guess_expectation();
  GpuHistory& history_of(int index);
  void forget_from(int found);

  GpuCheckOptions options_;
  std::unique_ptr<NvmlLibrary> nvml_;
  std::map<int, GpuHistory> gpus_;
  bool is_expectation_guessed_ = false;
  CheckMemory remembered_;  // of GPUs that are not in gpus_: they may come back
};

}  // namespace hai
