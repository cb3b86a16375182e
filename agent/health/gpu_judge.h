#pragma once
// What the samples of a GPU over time are worth. Pure.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/health/check_memory.h"
#include "agent/health/gpu_sample.h"
#include "agent/health/health_limits.h"
#include "common/health.h"
#include "common/time.h"

namespace hai {

// What the past of a GPU tells that its last sample does not. Bounded by the window of slowdowns.
class GpuHistory {
 public:
  void add(MonoTime now, GpuSample sample, const HealthLimits& limits);
  // Processes that are none of ours on a GPU that no rank uses: since when; none = there are none.
  void set_strays(MonoTime now, std::vector<pid_t> pids);

  const GpuSample& last() const { return last_; }
  size_t samples() const { return samples_.size(); }
  int64_t slowed_samples() const { return count(&Past::is_slowed); }
  int64_t bad_nvlink_samples() const { return count(&Past::has_bad_nvlink); }
  bool is_slow_pcie_twice() const;  // in the last two samples, under load
  double replays_per_minute() const { return replays_per_minute_; }
  // Links that were active once and are not.
  std::vector<int> lost_nvlinks() const;
  int64_t active_nvlinks() const;
  int64_t nvlinks() const;  // those the GPU has, active or not
  const std::vector<pid_t>& strays() const { return strays_; }
  Duration strays_for(MonoTime now) const;

  // Saves and restores, as facts about `subject`, what a new agent could not find out by itself.
  void remember(const std::string& subject, CheckMemory& memory) const;
  void restore(const std::string& subject, const CheckMemory& memory);

 private:
  struct Past {
    MonoTime at{};
    bool is_slowed = false;
    bool has_bad_nvlink = false;
    bool is_slow_pcie = false;
  };
  int64_t count(bool Past::*member) const;
  void compare(MonoTime now, const GpuSample& before, const GpuSample& after,
               const HealthLimits& limits, Past& past);

  GpuSample last_;
  std::deque<Past> samples_;
  std::set<int> nvlinks_once_active_;
  double replays_per_minute_ = 0;
  std::vector<pid_t> strays_;
  std::optional<MonoTime> strays_since_;
};

struct GpuExpectation {
  int64_t pcie_width = 0;  // 0 = the most that GPU and slot can do
  bool has_nvswitch = false;
  int64_t nvlinks = -1;  // active ones of each GPU; −1 = not said: those that ever were
};

// Every result about one GPU.
std::vector<CheckResult> judge_gpu(const GpuHistory& history, const GpuExpectation& expected,
                                   const HealthLimits& limits, MonoTime now);
CheckResult judge_gpu_count(int found, int expected);

}  // namespace hai
