#pragma once
// The numbers at which a reading becomes a warning or a failure, each with its default and where it
// comes from. A config sets them by name under health.limits.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

struct HealthLimits {
  // GPUs
  int64_t gpu_temperature_celsius = 93;
  int64_t gpu_slowdown_samples = 6;
  int64_t gpu_slowdown_minutes = 10;
  int64_t gpu_remapped_rows = 512;
  int64_t gpu_sram_corrected = 10'000;
  int64_t gpu_dram_corrected = 20'000'000;
  int64_t gpu_replays_per_minute = 0;
  int64_t gpu_stray_seconds = 50;
  int64_t nvlink_crc_per_second = 100;
  int64_t nvlink_start_seconds = 180;
  // InfiniBand
  int64_t ib_down_seconds = 30;
  int64_t ib_flaps = 3;
  int64_t ib_flap_minutes = 180;
  int64_t ib_recoveries = 3;
  int64_t ib_symbol_errors_per_minute = 120;
  int64_t ib_idle_minutes = 10;
  // Host
  int64_t memory_corrected_per_hour = 100;
  int64_t memory_percent = 97;
  int64_t disk_stuck_seconds = 60;
  int64_t disk_free_megabytes = 500;
  int64_t disk_free_percent = 10;
  int64_t disk_free_inodes_percent = 5;
  int64_t mount_silences = 5;
  int64_t clock_skew_ms = 1'000;
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
