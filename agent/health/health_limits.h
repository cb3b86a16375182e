#pragma once
// The numbers at which a reading becomes a warning or a failure. A config sets them by name under
// health.limits; docs/operations/health.md has them as a table.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

// LIMIT(name, default, lowest, highest, meaning)
#define HAI_HEALTH_LIMITS(LIMIT)                                                                   \
  LIMIT(gpu_temperature_celsius, 93, 30, 150, "a hotter GPU is a warning")                         \
  LIMIT(gpu_slowdown_samples, 6, 1, 1'000,                                                         \
        "so many samples with slowed clocks within gpu_slowdown_minutes fail")                     \
  LIMIT(gpu_slowdown_minutes, 10, 1, 60, "see gpu_slowdown_samples")                               \
  LIMIT(gpu_remapped_rows, 512, 1, 100'000,                                                        \
        "so many rows remapped for uncorrectable errors are a warning")                            \
  LIMIT(gpu_sram_corrected, 10'000, 1, INT64_MAX,                                                  \
        "more corrected SRAM errors since the driver was loaded are a warning")                    \
  LIMIT(gpu_dram_corrected, 20'000'000, 1, INT64_MAX,                                              \
        "more corrected DRAM errors since the driver was loaded are a warning")                    \
  LIMIT(gpu_replays_per_minute, 0, 0, 1'000'000,                                                   \
        "more PCIe replays are a warning; 0 = 0.48, 0.96 or 1.92 per lane for PCIe 3, 4 or 5")     \
  LIMIT(gpu_stray_seconds, 50, 0, 86'400, "a process may stay so long on a GPU that no rank uses") \
  LIMIT(nvlink_crc_per_second, 100, 1, 1'000'000, "so many CRC errors fail")                       \
  LIMIT(nvlink_start_seconds, 180, 0, 3'600,                                                       \
        "so long after the machine's start NVLinks that are not active are a warning")             \
  LIMIT(ib_down_seconds, 30, 0, 86'400, "a port that is down so long fails")                       \
  LIMIT(ib_flaps, 3, 1, 1'000, "so many losses of the link within ib_flap_minutes fail")           \
  LIMIT(ib_flap_minutes, 180, 1, 1'440, "see ib_flaps")                                            \
  LIMIT(ib_recoveries, 3, 1, 100'000,                                                              \
        "more recoveries of the link within ib_flap_minutes are a warning")                        \
  LIMIT(ib_symbol_errors_per_minute, 120, 1, 1'000'000'000,                                        \
        "more symbol or receive errors are a warning")                                             \
  LIMIT(ib_idle_minutes, 10, 1, 1'440,                                                             \
        "no data received for so long under a job of several nodes is a warning")                  \
  LIMIT(memory_corrected_per_hour, 100, 1, 1'000'000'000,                                          \
        "more corrected memory errors are a warning")                                              \
  LIMIT(memory_percent, 97, 1, 100, "less of the expected memory fails")                           \
  LIMIT(memory_free_percent, 25, 0, 100, "less free memory of a node without ranks is a warning")  \
  LIMIT(disk_stuck_seconds, 60, 1, 86'400,                                                         \
        "a disk that finishes nothing of what it was given for so long fails")                     \
  LIMIT(disk_free_megabytes, 500, 0, INT64_MAX / 1'048'576, "less free on a file system fails")    \
  LIMIT(disk_free_percent, 10, 0, 100, "less free on a file system is a warning")                  \
  LIMIT(disk_free_inodes_percent, 5, 0, 100,                                                       \
        "fewer free inodes on a file system are a warning; none fail")                             \
  LIMIT(mount_silences, 5, 1, 1'000, "a mount that does not answer so many times in a row fails")  \
  LIMIT(clock_skew_ms, 1'000, 1, 86'400'000,                                                       \
        "a clock that is further from the server's is a warning")

struct HealthLimits {
#define HAI_LIMIT(name, standard, low, high, meaning) int64_t name = standard;
  HAI_HEALTH_LIMITS(HAI_LIMIT)
#undef HAI_LIMIT
};

struct LimitInfo {
  const char* name;
  int64_t HealthLimits::*member;
  int64_t low;
  int64_t high;
  const char* meaning;
};
std::span<const LimitInfo> limit_infos();

// not_found for a name that is none; invalid_argument outside of its range.
Status set_limit(HealthLimits& limits, std::string_view name, int64_t value);

}  // namespace hai
