#include "common/health.h"

#include <algorithm>
#include <array>

namespace hai {

std::string_view to_string(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::ok:
      return "ok";
    case CheckVerdict::warn:
      return "warn";
    case CheckVerdict::fail:
      return "fail";
    case CheckVerdict::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(HealthTier tier) {
  switch (tier) {
    case HealthTier::log:
      return "log";
    case HealthTier::app:
      return "app";
    case HealthTier::validate:
      return "validate";
    case HealthTier::drain:
      return "drain";
    case HealthTier::evict:
      return "evict";
  }
  return "log";
}

CheckKind check_kind_of(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kOfTheKernelsLog{
      "disk_error",  "filesystem_error", "gpu_xid",       "ib_adapter",
      "kernel_bug",  "kernel_hung_task", "kernel_lockup", "machine_check",
      "mount_lines", "nvswitch_sxid",    "oom_kill"};
  return {.is_latched = std::ranges::find(kOfTheKernelsLog, name) != kOfTheKernelsLog.end(),
          .is_shared = name.starts_with("ib_") || name.starts_with("clock_") || name == "mount" ||
                       name == "mount_lines" || name == "version",
          .is_of_gpus = name.starts_with("gpu_") || name.starts_with("nvswitch_"),
          .cuts_network = name == "ib_link",
          .counts_cuts = name == "ib_flaps"};
}

bool is_made_by_jobs(std::string_view check) {
  return check == "disk_space" || check == "gpu_stray_process";
}

}  // namespace hai
