#pragma once
// What NVML says of one GPU at one moment. A value that it does not know is absent.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/health/nvml_library.h"

namespace hai {

struct NvlinkSample {
  int index = 0;
  bool is_active = false;
  std::optional<int64_t> replays;
  std::optional<int64_t> recoveries;
  std::optional<int64_t> crc_errors;  // of flits and data
  bool operator==(const NvlinkSample&) const = default;
};

struct GpuSample {
  int index = 0;
  nvml::Return trouble = nvml::kSuccess;  // the first that makes the GPU unusable
  std::string trouble_text;
  std::optional<int64_t> recovery_action;
  struct RemappedRows {
    int64_t corrected = 0;
    int64_t uncorrected = 0;
    bool is_pending = false;
    bool has_failed = false;
    bool operator==(const RemappedRows&) const = default;
  };
  std::optional<RemappedRows> remapped_rows;
  std::optional<bool> ecc_on;
  std::optional<int64_t> ecc_uncorrected;  // since the driver was loaded
  std::optional<int64_t> ecc_uncorrected_lifetime;
  std::optional<int64_t> sram_corrected;  // since the driver was loaded
  std::optional<int64_t> dram_corrected;
  std::optional<uint64_t> clock_reasons;
  std::optional<int64_t> temperature_celsius;
  std::optional<int64_t> pcie_generation;
  std::optional<int64_t> pcie_generation_max;
  std::optional<int64_t> pcie_width;
  std::optional<int64_t> pcie_width_max;
  std::optional<int64_t> pcie_replays;
  std::optional<int64_t> utilization_percent;
  std::optional<int64_t> memory_percent;  // of its memory, what is taken
  std::optional<int64_t> power_milliwatts;
  std::vector<NvlinkSample> nvlinks;  // those the GPU has
  std::optional<std::vector<pid_t>> compute_pids;
  bool operator==(const GpuSample&) const = default;
};

// Stops at the first answer that says that the GPU is lost or must be reset.
GpuSample read_gpu(const NvmlLibrary& nvml, int index);

// Whether the code says that the GPU itself cannot be used, rather than that a value is not to be
// had.
bool is_trouble(nvml::Return code);

}  // namespace hai
