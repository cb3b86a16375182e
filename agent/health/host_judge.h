#pragma once
// What readings of the machine itself are worth. Pure.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/health/health_limits.h"
#include "common/health.h"
#include "common/time.h"

namespace hai {

// "0-3,8,10-11" → 7; none if it is no such list.
std::optional<int64_t> count_cpu_list(const std::string& text);

// `expected` 0 = all that are present.
CheckResult judge_cpus(int64_t online, int64_t present, int64_t expected);
// `expected` 0 = any.
CheckResult judge_memory(int64_t bytes, int64_t expected_bytes, const HealthLimits& limits);
// `expected` "" = any that is read without leaving the processor.
CheckResult judge_clock_source(const std::string& current, const std::string& expected);
CheckResult judge_clock_skew(const std::optional<Duration>& skew, const HealthLimits& limits);

// Memory errors one controller has counted since boot.
struct EdacSample {
  int64_t corrected = 0;
  int64_t uncorrected = 0;
};

class EdacHistory {
 public:
  void add(MonoTime now, const EdacSample& sample);
  int64_t corrected_in_last_hour() const;
  const EdacSample& last() const { return last_; }

 private:
  EdacSample last_;
  bool is_known_ = false;
  std::deque<std::pair<MonoTime, int64_t>> corrected_;  // new ones
};
CheckResult judge_edac(const std::string& controller, const EdacHistory& history,
                       const HealthLimits& limits);

// name → version; `manifest` is what the group should have.
using Versions = std::map<std::string, std::string>;
std::vector<CheckResult> judge_versions(const Versions& found, const Versions& manifest);
// "name: version" a line, # begins a comment.
Versions parse_manifest(const std::string& text);

}  // namespace hai
