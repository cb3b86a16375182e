#pragma once
// The machine itself: processors, memory and its errors, clocks, versions.

#include <map>
#include <string>

#include "agent/health/check.h"
#include "agent/health/host_judge.h"

namespace hai {

struct HostCheckOptions {
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  int64_t expected_cpus = 0;
  int64_t expected_memory_bytes = 0;
  std::string expected_clock_source;
  std::string manifest;  // file; "" = none
  std::string agent_version;
  HealthLimits limits;
};

class HostCheck final : public Check {
 public:
  explicit HostCheck(HostCheckOptions options);
  std::vector<CheckResult> run(const CheckInput& input) override;

 private:
  CheckResult judge_all_cpus() const;
  CheckResult judge_all_memory() const;
  CheckResult judge_clock() const;
  void add_memory_errors(MonoTime now, std::vector<CheckResult>& results);
  std::vector<CheckResult> judge_all_versions() const;

  HostCheckOptions options_;
  std::map<std::string, EdacHistory> controllers_;
};

// "550.54.15"; "" if the driver is not loaded.
std::string nvidia_driver_version(const std::string& sys_root, const std::string& proc_root);

}  // namespace hai
