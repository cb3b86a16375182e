#include "agent/health/health_limits.h"

namespace hai {

namespace {

using L = HealthLimits;

constexpr LimitInfo kLimits[] = {
    {"gpu_temperature_celsius", &L::gpu_temperature_celsius, 30, 150, "a hotter GPU is a warning"},
    {"gpu_slowdown_samples", &L::gpu_slowdown_samples, 1, 1'000,
     "so many samples with slowed clocks within gpu_slowdown_minutes fail"},
    {"gpu_slowdown_minutes", &L::gpu_slowdown_minutes, 1, 60, "see gpu_slowdown_samples"},
    {"gpu_remapped_rows", &L::gpu_remapped_rows, 1, 100'000,
     "so many rows remapped for uncorrectable errors are a warning"},
    {"gpu_sram_corrected", &L::gpu_sram_corrected, 1, INT64_MAX,
     "more corrected SRAM errors since the driver was loaded are a warning"},
    {"gpu_dram_corrected", &L::gpu_dram_corrected, 1, INT64_MAX,
     "more corrected DRAM errors since the driver was loaded are a warning"},
    {"gpu_replays_per_minute", &L::gpu_replays_per_minute, 0, 1'000'000,
     "more PCIe replays are a warning; 0 = 0.48, 0.96 or 1.92 per lane for PCIe 3, 4 or 5"},
    {"gpu_stray_seconds", &L::gpu_stray_seconds, 0, 86'400,
     "a process may stay so long on a GPU that no rank uses"},
    {"nvlink_crc_per_second", &L::nvlink_crc_per_second, 1, 1'000'000, "so many CRC errors fail"},
    {"nvlink_start_seconds", &L::nvlink_start_seconds, 0, 3'600,
     "so long after the machine's start NVLinks that are not active are a warning"},
    {"ib_down_seconds", &L::ib_down_seconds, 0, 86'400, "a port that is down so long fails"},
    {"ib_flaps", &L::ib_flaps, 1, 1'000, "so many losses of the link within ib_flap_minutes fail"},
    {"ib_flap_minutes", &L::ib_flap_minutes, 1, 1'440, "see ib_flaps"},
    {"ib_recoveries", &L::ib_recoveries, 1, 100'000,
     "more recoveries of the link within ib_flap_minutes are a warning"},
    {"ib_symbol_errors_per_minute", &L::ib_symbol_errors_per_minute, 1, 1'000'000'000,
     "more symbol or receive errors are a warning"},
    {"ib_idle_minutes", &L::ib_idle_minutes, 1, 1'440,
     "no data received for so long under a job of several nodes is a warning"},
    {"memory_corrected_per_hour", &L::memory_corrected_per_hour, 1, 1'000'000'000,
     "more corrected memory errors are a warning"},
    {"memory_percent", &L::memory_percent, 1, 100, "less of the expected memory fails"},
    {"disk_stuck_seconds", &L::disk_stuck_seconds, 1, 86'400,
     "a disk that finishes nothing of what it was given for so long fails"},
    {"disk_free_megabytes", &L::disk_free_megabytes, 0, INT64_MAX / 1'048'576,
     "less free on a file system fails"},
    {"disk_free_percent", &L::disk_free_percent, 0, 100, "less free on a file system is a warning"},
    {"disk_free_inodes_percent", &L::disk_free_inodes_percent, 0, 100,
     "fewer free inodes on a file system are a warning; none fail"},
    {"mount_silences", &L::mount_silences, 1, 1'000,
     "a mount that does not answer so many times in a row fails"},
    {"clock_skew_ms", &L::clock_skew_ms, 1, 86'400'000,
     "a clock that is further from the server's is a warning"},
};

}  // namespace

std::span<const LimitInfo> limit_infos() { return kLimits; }

Status set_limit(HealthLimits& limits, std::string_view name, int64_t value) {
  for (const LimitInfo& info : kLimits) {
    if (name != info.name) continue;
    if (value < info.low || value > info.high) {
      return invalid_argument("{} must be {} to {}, is {}", name, info.low, info.high, value);
    }
    limits.*info.member = value;
    return ok();
  }
  return not_found("no limit {}", name);
}

}  // namespace hai
