#include "agent/health/gpu_judge.h"

#include <fmt/ranges.h>

#include <cmath>

#include "agent/health/results.h"
#include "common/count_of.h"

namespace hai {

namespace {

// What a value that is not to be had asks for.
constexpr const char* kNewerDriver = "none; a newer driver may tell";

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
  if (!gpu.recovery_action) {
    return make_unknown(about, {.summary = "this driver does not tell", .remedy = kNewerDriver});
  }
  const int64_t action = *gpu.recovery_action;
  if (action == 0) return make_ok(about, "none needed");
  const bool is_known = action > 0 && action <= 7;
  const CheckFinding finding{
      .summary = fmt::format("the driver asks for: {}",
                             is_known ? kActions[action] : "one that is not known here"),
      .remedy = is_known ? kActions[action]
                         : fmt::format("see what the driver means by recovery action {}", action)};
  if (action == 3) return make_warn(about, finding);
  const HealthTier tier = action == 5 || !is_known ? HealthTier::validate : HealthTier::drain;
  return make_fail(about, tier, finding);
}

CheckResult judge_remapped_rows(const GpuSample& gpu, const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_remapped_rows", gpu.index);
  if (!gpu.remapped_rows) {
    return make_unknown(about, {.summary = "this GPU does not tell", .remedy = kNewerDriver});
  }
  const GpuSample::RemappedRows& rows = *gpu.remapped_rows;
  if (rows.has_failed) {
    return make_fail(about, HealthTier::evict,
                     {.summary = "a row could not be remapped", .remedy = "replace the GPU"});
  }
  if (rows.is_pending) {
    return make_fail(about, HealthTier::drain,
                     {.summary = "a row waits to be remapped", .remedy = "reset the GPU"});
  }
  const std::string summary = fmt::format("{} rows remapped for uncorrectable errors, limit {}",
                                          rows.uncorrected, limits.gpu_remapped_rows);
  if (rows.uncorrected < limits.gpu_remapped_rows) return make_ok(about, summary);
  return make_warn(about, {.summary = summary, .remedy = "have another GPU ready to replace it"});
}

CheckResult judge_ecc(const GpuSample& gpu, const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_ecc", gpu.index);
  if (!gpu.ecc_on) {
    return make_unknown(about, {.summary = "this GPU has no ECC", .remedy = "none"});
  }
  if (!*gpu.ecc_on) {
    return make_warn(about, {.summary = "ECC is off",
                             .remedy = "turn it on (nvidia-smi --ecc-config=1) and reset the GPU"});
  }
  const int64_t uncorrected = gpu.ecc_uncorrected.value_or(0);
  const int64_t sram = gpu.sram_corrected.value_or(0);
  const int64_t dram = gpu.dram_corrected.value_or(0);
  if (uncorrected > 0) {
    return make_fail(
        about, HealthTier::evict,
        {.summary =
             fmt::format("{} uncorrectable memory errors since the driver was loaded", uncorrected),
         .remedy = "reset the GPU; service if they come back",
         .evidence = fmt::format("uncorrected in its life {}, corrected in SRAM {}, in DRAM {}\n",
                                 gpu.ecc_uncorrected_lifetime.value_or(-1), sram, dram)});
  }
  const auto many = [&](const char* where, int64_t count, int64_t limit) {
    return make_warn(
        about, {.summary = fmt::format("{} corrected {} errors, limit {}", count, where, limit),
                .remedy = "validate; have another GPU ready to replace it"});
  };
  if (sram > limits.gpu_sram_corrected) return many("SRAM", sram, limits.gpu_sram_corrected);
  if (dram > limits.gpu_dram_corrected) return many("DRAM", dram, limits.gpu_dram_corrected);
  return make_ok(about, "no uncorrectable memory errors");
}

CheckResult judge_clocks(const GpuHistory& history, const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_clocks", history.last().index);
  if (!history.last().clock_reasons) {
    return make_unknown(about, {.summary = "this driver does not tell", .remedy = kNewerDriver});
  }
  const int64_t slowed = history.slowed_samples();
  const std::string summary =
      fmt::format("hardware slowed the clocks in {} samples of {} min, limit {}", slowed,
                  limits.gpu_slowdown_minutes, limits.gpu_slowdown_samples);
  if (slowed < limits.gpu_slowdown_samples) return make_ok(about, summary);
  return make_fail(about, HealthTier::drain,
                   {.summary = summary,
                    .remedy = "service: cooling and power",
                    .evidence = fmt::format("reasons 0x{:x}\n", *history.last().clock_reasons)});
}

CheckResult judge_temperature(const GpuSample& gpu, const HealthLimits& limits) {
  const CheckSubject about = about_gpu("gpu_temperature", gpu.index);
  if (!gpu.temperature_celsius) {
    return make_unknown(about, {.summary = "this GPU does not tell", .remedy = kNewerDriver});
  }
  const std::string summary =
      fmt::format("{} C, limit {} C", *gpu.temperature_celsius, limits.gpu_temperature_celsius);
  if (*gpu.temperature_celsius <= limits.gpu_temperature_celsius) return make_ok(about, summary);
  return make_warn(about, {.summary = summary, .remedy = "service: cooling"});
}

CheckResult judge_pcie_link(const GpuHistory& history, const GpuExpectation& expected) {
  static constexpr const char* kRemedy = "reboot; service if it stays: slot or riser";
  const GpuSample& gpu = history.last();
  const CheckSubject about = about_gpu("gpu_pcie_link", gpu.index);
  const int64_t want =
      expected.pcie_width > 0 ? expected.pcie_width : gpu.pcie_width_max.value_or(0);
  if (!gpu.pcie_width || want == 0) {
    return make_unknown(about, {.summary = "this GPU does not tell", .remedy = kNewerDriver});
  }
  if (*gpu.pcie_width < want) {
    return make_fail(about, HealthTier::evict,
                     {.summary = fmt::format("{} PCIe lanes, expected {}", *gpu.pcie_width, want),
                      .remedy = kRemedy});
  }
  if (history.is_slow_pcie_twice() && gpu.pcie_generation && gpu.pcie_generation_max) {
    return make_fail(about, HealthTier::validate,
                     {.summary = fmt::format("PCIe generation {} under load, expected {}",
                                             *gpu.pcie_generation, *gpu.pcie_generation_max),
                      .remedy = kRemedy});
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
  if (!gpu.pcie_replays) {
    return make_unknown(about, {.summary = "this GPU does not tell", .remedy = kNewerDriver});
  }
  const int64_t limit = replay_limit(gpu, limits);
  const std::string summary =
      fmt::format("{:.0f} PCIe replays a minute, limit {}", history.replays_per_minute(), limit);
  if (history.replays_per_minute() <= static_cast<double>(limit)) return make_ok(about, summary);
  return make_warn(about,
                   {.summary = summary, .remedy = "watch; service if they stay: slot or riser"});
}

// How many are active, if that is not as it should be; none = it is.
std::optional<CheckResult> judge_active_nvlinks(const GpuHistory& history,
                                                const GpuExpectation& expected,
                                                const HealthLimits& limits, MonoTime now) {
  const CheckSubject about = about_gpu("gpu_nvlink", history.last().index);
  const int64_t active = history.active_nvlinks();
  std::string summary = fmt::format("{} of {} NVLinks active", active, history.nvlinks());
  const bool is_expected = expected.nvlinks >= 0;
  const std::vector<int> lost = history.lost_nvlinks();
  if (is_expected ? active < expected.nvlinks : !lost.empty()) {
    if (is_expected) summary += fmt::format(", expected {}", expected.nvlinks);
    if (!lost.empty())
      summary += fmt::format("; were active and are not: {}", fmt::join(lost, ","));
    const CheckFinding finding{
        .summary = summary,
        .remedy = expected.has_nvswitch ? "reset the GPUs and NVSwitches; service if it stays"
                                        : "reset the GPU; service if it stays: reseat the bridge"};
    // They come up with the fabric manager, later than the driver and perhaps than the agent.
    const Duration since_boot = now.time_since_epoch();
    if (since_boot < limits.nvlink_start_seconds * 1s) return make_warn(about, finding);
    return make_fail(about, expected.has_nvswitch ? HealthTier::evict : HealthTier::drain, finding);
  }
  // Either none is in use or all are, but for a bridge that takes up some of them.
  if (is_expected || active == 0 || active == history.nvlinks()) return std::nullopt;
  return make_warn(about, {.summary = summary + ", and nobody says how many should be",
                           .remedy = "set health.expect.gpu_nvlinks of the agent's config"});
}

CheckResult judge_nvlinks(const GpuHistory& history, const GpuExpectation& expected,
                          const HealthLimits& limits, MonoTime now) {
  const CheckSubject about = about_gpu("gpu_nvlink", history.last().index);
  const std::optional<CheckResult> missing = judge_active_nvlinks(history, expected, limits, now);
  if (missing && missing->verdict == CheckVerdict::fail) return *missing;
  const int64_t bad = history.bad_nvlink_samples();
  if (bad > 0) {
    const CheckFinding finding{
        .summary = fmt::format(
            "NVLink errors in {} samples of {} min, limit 2: replays, recoveries or {} CRC "
            "errors a second",
            bad, limits.gpu_slowdown_minutes, limits.nvlink_crc_per_second),
        .remedy = "validate with an all-reduce; service if they stay: reseat the bridge"};
    return bad >= 2 ? make_fail(about, HealthTier::validate, finding) : make_warn(about, finding);
  }
  if (missing) return *missing;
  if (history.nvlinks() == 0 && expected.nvlinks != 0) {
    return make_unknown(about,
                        {.summary = "no NVLinks",
                         .remedy = "none; if it should have some: health.expect.gpu_nvlinks"});
  }
  return make_ok(
      about, fmt::format("{} of {} NVLinks active", history.active_nvlinks(), history.nvlinks()));
}

CheckResult judge_strays(const GpuHistory& history, const HealthLimits& limits, MonoTime now) {
  const CheckSubject about = about_gpu("gpu_stray_process", history.last().index);
  if (!history.last().compute_pids) {
    return make_unknown(about, {.summary = "this driver does not tell", .remedy = kNewerDriver});
  }
  if (history.strays().empty()) return make_ok(about, "none");
  const Duration since = history.strays_for(now);
  const CheckFinding finding{
      .summary =
          fmt::format("{} processes of no rank since {} s on a GPU that no rank uses, limit {} s",
                      history.strays().size(), since / 1s, limits.gpu_stray_seconds),
      .remedy = "end them, if they are no work of the node's own",
      .evidence = fmt::format("pids {}\n", fmt::join(history.strays(), " "))};
  if (since < limits.gpu_stray_seconds * 1s) return make_warn(about, finding);
  return make_fail(about, HealthTier::validate, finding);
}

}  // namespace

std::vector<CheckResult> judge_gpu(const GpuHistory& history, const GpuExpectation& expected,
                                   const HealthLimits& limits, MonoTime now) {
  const GpuSample& gpu = history.last();
  const CheckSubject state = about_gpu("gpu_state", gpu.index);
  std::vector<CheckResult> results;
  if (gpu.trouble != nvml::kSuccess) {
    results.push_back(make_fail(state, HealthTier::evict,
                                {.summary = fmt::format("NVML: {}", gpu.trouble_text),
                                 .remedy = "reset the GPU or reboot; service if it comes back"}));
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
  results.push_back(judge_nvlinks(history, expected, limits, now));
  results.push_back(judge_strays(history, limits, now));
  return results;
}

CheckResult judge_gpu_count(int found, int expected) {
  const CheckSubject about{.name = "gpu_count", .subject = {}, .gpus = {}};
  if (found == expected) return make_ok(about, count_of(found, "GPU"));
  const std::string summary = fmt::format("{}, expected {}", count_of(found, "GPU"), expected);
  if (found < expected) {
    return make_fail(about, HealthTier::evict,
                     {.summary = summary, .remedy = "reboot; service if it stays away"});
  }
  return make_warn(about, {.summary = summary, .remedy = "correct health.expect.gpus"});
}

}  // namespace hai
