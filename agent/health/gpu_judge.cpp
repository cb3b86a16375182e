#include "agent/health/gpu_judge.h"

#include <fmt/ranges.h>

#include <cmath>

#include "agent/health/results.h"

namespace hai {

namespace {

CheckResult judge_recovery_action(const GpuSample& gpu) {
  static constexpr const char* kActions[] = {"none",
                                             "reset the GPU",
                                             "reboot the node",
                                             "drain peer to peer",
                                             "drain and reset",
                                             "recover the IMEX domain",
                                             "reset the bus",
                                             "reboot the system"};
  const CheckSubject about = about_gpu("gpu_recovery_action", gpu.index);
  if (!gpu.recovery_action) return make_unknown(about, "this driver does not tell");
  const int64_t action = *gpu.recovery_action;
  if (action == 0) return make_ok(about, "none needed");
  const char* word = action > 0 && action <= 7 ? kActions[action] : "one that is not known here";
  const std::string summary = fmt::format("the driver asks for: {}", word);
  if (action == 3) return make_warn(about, summary);
  const HealthTier tier = action == 5 || action > 7 ? HealthTier::validate : HealthTier::drain;
  return make_fail(about, tier, summary);
}

CheckResult judge_remapped_rows(const GpuSample& gpu, const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_remapped_rows", gpu.index);
  if (!gpu.remapped_rows) return make_unknown(about, "this GPU does not tell");
  const GpuSample::RemappedRows& rows = *gpu.remapped_rows;
  if (rows.has_failed)
    return make_fail(about, HealthTier::evict, "a row could not be remapped: replace the GPU");
  if (rows.is_pending)
    return make_fail(about, HealthTier::drain, "a row waits to be remapped: reset the GPU");
  const std::string summary = fmt::format("{} rows remapped for uncorrectable errors, limit {}",
                                          rows.uncorrected, limits.gpu_remapped_rows);
  if (rows.uncorrected >= limits.gpu_remapped_rows) return make_warn(about, summary);
  return make_ok(about, summary);
}

CheckResult judge_ecc(const GpuSample& gpu, const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_ecc", gpu.index);
  if (!gpu.ecc_on) return make_unknown(about, "this GPU has no ECC");
  if (!*gpu.ecc_on) return make_warn(about, "ECC is off");
  const int64_t uncorrected = gpu.ecc_uncorrected.value_or(0);
  const int64_t sram = gpu.sram_corrected.value_or(0);
  const int64_t dram = gpu.dram_corrected.value_or(0);
  const std::string evidence =
      fmt::format("uncorrected in its life {}, corrected in SRAM {}, in DRAM {}\n",
                  gpu.ecc_uncorrected_lifetime.value_or(-1), sram, dram);
  if (uncorrected > 0) {
    return make_fail(
        about, HealthTier::evict,
        fmt::format("{} uncorrectable memory errors since the driver was loaded", uncorrected),
        evidence);
  }
  if (sram > limits.gpu_sram_corrected) {
    return make_warn(
        about, fmt::format("{} corrected SRAM errors, limit {}", sram, limits.gpu_sram_corrected));
  }
  if (dram > limits.gpu_dram_corrected) {
    return make_warn(
        about, fmt::format("{} corrected DRAM errors, limit {}", dram, limits.gpu_dram_corrected));
  }
  return make_ok(about, "no uncorrectable memory errors");
}

CheckResult judge_clocks(const GpuHistory& history, const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_clocks", history.last().index);
  if (!history.last().clock_reasons) return make_unknown(about, "this driver does not tell");
  const int64_t slowed = history.slowed_samples();
  const std::string summary =
      fmt::format("hardware slowed the clocks in {} samples of {} min, limit {}", slowed,
                  limits.gpu_slowdown_minutes, limits.gpu_slowdown_samples);
  if (slowed >= limits.gpu_slowdown_samples)
    return make_fail(about, HealthTier::drain, summary,
                     fmt::format("reasons 0x{:x}\n", *history.last().clock_reasons));
  return make_ok(about, summary);
}

CheckResult judge_temperature(const GpuSample& gpu, const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_temperature", gpu.index);
  if (!gpu.temperature_celsius) return make_unknown(about, "this GPU does not tell");
  const std::string summary =
      fmt::format("{} C, limit {} C", *gpu.temperature_celsius, limits.gpu_temperature_celsius);
  if (*gpu.temperature_celsius > limits.gpu_temperature_celsius) return make_warn(about, summary);
  return make_ok(about, summary);
}

CheckResult judge_pcie_link(const GpuHistory& history, const GpuExpectation& expected) {
  const GpuSample& gpu = history.last();
  const CheckSubject about = about_gpu("gpu_pcie_link", gpu.index);
  const int64_t want =
      expected.pcie_width > 0 ? expected.pcie_width : gpu.pcie_width_max.value_or(0);
  if (!gpu.pcie_width || want == 0) return make_unknown(about, "this GPU does not tell");
  if (*gpu.pcie_width < want) {
    return make_fail(about, HealthTier::evict,
                     fmt::format("{} PCIe lanes, expected {}", *gpu.pcie_width, want));
  }
  if (history.is_slow_pcie_twice()) {
    return make_fail(about, HealthTier::validate,
                     fmt::format("PCIe generation {} under load, expected {}", *gpu.pcie_generation,
                                 *gpu.pcie_generation_max));
  }
  return make_ok(about, fmt::format("{} PCIe lanes", *gpu.pcie_width));
}

// DCGM's: 0.48, 0.96 and 1.92 replays a minute and lane.
int64_t replay_limit(const GpuSample& gpu, const HealthLimits& limits) {
  if (limits.gpu_replays_per_minute > 0) return limits.gpu_replays_per_minute;
  const int64_t generation = gpu.pcie_generation_max.value_or(4);
  const double per_lane = generation >= 5 ? 1.92 : generation == 4 ? 0.96 : 0.48;
  return static_cast<int64_t>(
      std::ceil(per_lane * static_cast<double>(gpu.pcie_width_max.value_or(16))));
}

CheckResult judge_pcie_replays(const GpuHistory& history, const HealthLimits& limits) {
  const GpuSample& gpu = history.last();
  const CheckSubject about = about_gpu("gpu_pcie_replays", gpu.index);
  if (!gpu.pcie_replays) return make_unknown(about, "this GPU does not tell");
  const int64_t limit = replay_limit(gpu, limits);
  const std::string summary =
      fmt::format("{:.0f} PCIe replays a minute, limit {}", history.replays_per_minute(), limit);
  if (history.replays_per_minute() > static_cast<double>(limit)) return make_warn(about, summary);
  return make_ok(about, summary);
}

CheckResult judge_nvlinks(const GpuHistory& history, const GpuExpectation& expected,
                          const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_nvlink", history.last().index);
  const std::vector<int> lost = history.lost_nvlinks();
  if (!lost.empty()) {
    return make_fail(about, expected.has_nvswitch ? HealthTier::evict : HealthTier::drain,
                     fmt::format("NVLinks {} were active and are not", fmt::join(lost, ",")));
  }
  const int64_t bad = history.bad_nvlink_samples();
  if (bad > 0) {
    const std::string summary = fmt::format(
        "NVLink errors in {} samples of {} min, limit 2: replays, recoveries or {} CRC "
        "errors a second",
        bad, limits.gpu_slowdown_minutes, limits.nvlink_crc_per_second);
    return bad >= 2 ? make_fail(about, HealthTier::validate, summary) : make_warn(about, summary);
  }
  if (history.last().nvlinks.empty()) return make_unknown(about, "no NVLinks");
  return make_ok(about, fmt::format("{} NVLinks", history.last().nvlinks.size()));
}

CheckResult judge_strays(const GpuHistory& history, const HealthLimits& limits, MonoTime now) {
  const CheckSubject about = about_gpu("gpu_stray_process", history.last().index);
  if (!history.last().compute_pids) return make_unknown(about, "this driver does not tell");
  if (history.strays().empty()) return make_ok(about, "none");
  const Duration since = history.strays_for(now);
  const std::string summary =
      fmt::format("{} processes of no rank since {} s on a GPU that no rank uses, limit {} s",
                  history.strays().size(), since / 1s, limits.gpu_stray_seconds);
  const std::string evidence = fmt::format("pids {}\n", fmt::join(history.strays(), " "));
  if (since < limits.gpu_stray_seconds * 1s) return make_warn(about, summary, evidence);
  return make_fail(about, HealthTier::validate, summary, evidence);
}

}  // namespace

std::vector<CheckResult> judge_gpu(const GpuHistory& history, const GpuExpectation& expected,
                                   const HealthLimits& limits, MonoTime now) {
  const GpuSample& gpu = history.last();
  const CheckSubject state = about_gpu("gpu_state", gpu.index);
  std::vector<CheckResult> results;
  if (gpu.trouble != nvml::kSuccess) {
    results.push_back(
        make_fail(state, HealthTier::evict, fmt::format("NVML: {}", gpu.trouble_text)));
    // Nothing more is known of it, but what it asks for is worth telling.
    if (gpu.recovery_action) results.push_back(judge_recovery_action(gpu));
    return results;
  }
  results.push_back(make_ok(state, "answers"));
  results.push_back(judge_recovery_action(gpu));
  results.push_back(judge_remapped_rows(gpu, limits));
  results.push_back(judge_ecc(gpu, limits));
  results.push_back(judge_clocks(history, limits));
  results.push_back(judge_temperature(gpu, limits));
  results.push_back(judge_pcie_link(history, expected));
  results.push_back(judge_pcie_replays(history, limits));
  results.push_back(judge_nvlinks(history, expected, limits));
  results.push_back(judge_strays(history, limits, now));
  return results;
}

CheckResult judge_gpu_count(int found, int expected) {
  const CheckSubject about{.name = "gpu_count", .subject = {}, .gpus = {}};
  if (found < expected) {
    return make_fail(about, HealthTier::evict,
                     fmt::format("{} GPUs, expected {}", found, expected));
  }
  if (found > expected)
    return make_warn(about, fmt::format("{} GPUs, expected {}", found, expected));
  return make_ok(about, fmt::format("{} GPUs", found));
}

}  // namespace hai
