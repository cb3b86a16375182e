#pragma once
// Disks that take requests and finish none: the sign of a dying disk or a lost path that needs no
// log line.

#include <map>
#include <string>
#include <vector>

#include "agent/health/check.h"
#include "agent/health/health_limits.h"

namespace hai {

struct DiskSample {
  int64_t finished = 0;  // reads, writes, discards and flushes since boot
  int64_t in_flight = 0;
  bool operator==(const DiskSample&) const = default;
};
// By device; a text like /proc/diskstats.
std::map<std::string, DiskSample> parse_diskstats(const std::string& text);

// Pure.
CheckResult judge_disk(const std::string& disk, Duration stuck_for, const HealthLimits& limits);

struct DiskCheckOptions {
  std::string proc_root = "/proc";
  std::vector<std::string> disks;  // "nvme0n1"; empty = all but loop, ram and partitions
  HealthLimits limits;
};

class DiskCheck final : public Check {
 public:
  explicit DiskCheck(DiskCheckOptions options);
  std::vector<CheckResult> run(const CheckInput& input) override;
  CheckMemory memory() const override;
  void restore(const CheckMemory& memory) override;

 private:
  struct Past {
    DiskSample sample;
    MonoTime moved_at{};
    bool is_stuck = false;  // since before its last sample
  };
  DiskCheckOptions options_;
  std::map<std::string, Past> disks_;
};

}  // namespace hai
