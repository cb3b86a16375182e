// Each limit of a GPU's readings, without NVML.

#include "agent/health/gpu_judge.h"

#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

GpuSample healthy() {
  return {
      .index = 2,
      .recovery_action = 0,
      .remapped_rows = GpuSample::RemappedRows{},
      .ecc_on = true,
      .ecc_uncorrected = 0,
      .ecc_uncorrected_lifetime = 12,
      .sram_corrected = 0,
      .dram_corrected = 0,
      .clock_reasons = 0,
      .temperature_celsius = 60,
      .pcie_generation = 4,
      .pcie_generation_max = 4,
      .pcie_width = 16,
      .pcie_width_max = 16,
      .pcie_replays = 100,
      .utilization_percent = 90,
      .nvlinks = {{.index = 0, .is_active = true, .replays = 1, .recoveries = 0, .crc_errors = 9}},
      .compute_pids = std::vector<pid_t>{}};
}

struct GpuJudgeTest : testing::Test {
  // The verdict after one more sample, 15 s after the last.
  std::string after(const GpuSample& sample, const std::string& name) {
    now += 15s;
    history.add(now, sample, limits);
    return verdict_of(judge_gpu(history, expected, limits, now), name, "gpu 2");
  }
  // The verdict of a sample of its own, changed from a healthy one.
  std::string alone(const std::string& name, const std::function<void(GpuSample&)>& change) {
    GpuSample sample = healthy();
    change(sample);
    history = {};
    return after(sample, name);
  }
  HealthLimits limits;
  GpuExpectation expected;
  GpuHistory history;
  MonoTime now = MonoTime(1h);
};

TEST_F(GpuJudgeTest, a_healthy_gpu_is_ok_in_everything) {
  history.add(now, healthy(), limits);
  const std::vector<CheckResult> results = judge_gpu(history, expected, limits, now);
  EXPECT_EQ(results.size(), 10u);
  for (const CheckResult& result : results) {
    EXPECT_EQ(result.verdict, CheckVerdict::ok) << result.name << ": " << result.summary;
    EXPECT_EQ(result.gpus, GpuSet{4}) << result.name;
  }
}

TEST_F(GpuJudgeTest, a_value_that_is_not_to_be_had_is_unknown_never_a_failure) {
  history.add(now, {.index = 2}, limits);
  for (const CheckResult& result : judge_gpu(history, expected, limits, now)) {
    if (result.name == "gpu_state") continue;
    EXPECT_EQ(result.verdict, CheckVerdict::unknown) << result.name;
  }
}

TEST_F(GpuJudgeTest, lost_or_in_need_of_a_reset_is_evicted) {
  for (const nvml::Return code : {nvml::kGpuIsLost, nvml::kResetRequired}) {
    EXPECT_EQ(alone("gpu_state", [&](GpuSample& s) { s.trouble = code; }), "fail evict");
  }
}

TEST_F(GpuJudgeTest, recovery_action) {
  const char* verdicts[] = {"ok",         "fail drain", "fail drain",
                            "warn",       "fail drain", "fail validate",
                            "fail drain", "fail drain", "fail validate"};
  for (int64_t action = 0; action < 9; ++action) {
    EXPECT_EQ(alone("gpu_recovery_action", [&](GpuSample& s) { s.recovery_action = action; }),
              verdicts[action])
        << action;
  }
}

TEST_F(GpuJudgeTest, remapped_rows) {
  const auto with = [&](GpuSample::RemappedRows rows) {
    return alone("gpu_remapped_rows", [&](GpuSample& s) { s.remapped_rows = rows; });
  };
  EXPECT_EQ(with({.uncorrected = 511}), "ok");
  EXPECT_EQ(with({.uncorrected = 512}), "warn");
  EXPECT_EQ(with({.is_pending = true}), "fail drain");
  EXPECT_EQ(with({.is_pending = true, .has_failed = true}), "fail evict");
}

TEST_F(GpuJudgeTest, ecc) {
  EXPECT_EQ(alone("gpu_ecc", [](GpuSample& s) { s.ecc_uncorrected = 1; }), "fail evict");
  EXPECT_EQ(alone("gpu_ecc", [](GpuSample& s) { s.ecc_uncorrected_lifetime = 99; }), "ok");
  EXPECT_EQ(alone("gpu_ecc", [](GpuSample& s) { s.sram_corrected = 10'000; }), "ok");
  EXPECT_EQ(alone("gpu_ecc", [](GpuSample& s) { s.sram_corrected = 10'001; }), "warn");
  EXPECT_EQ(alone("gpu_ecc", [](GpuSample& s) { s.dram_corrected = 20'000'001; }), "warn");
  EXPECT_EQ(alone("gpu_ecc", [](GpuSample& s) { s.ecc_on = false; }), "warn");
}

TEST_F(GpuJudgeTest, temperature) {
  EXPECT_EQ(alone("gpu_temperature", [](GpuSample& s) { s.temperature_celsius = 93; }), "ok");
  EXPECT_EQ(alone("gpu_temperature", [](GpuSample& s) { s.temperature_celsius = 94; }), "warn");
}

TEST_F(GpuJudgeTest, six_samples_of_slowed_clocks_in_ten_minutes_drain_and_pass) {
  GpuSample slowed = healthy();
  slowed.clock_reasons = nvml::kReasonHwThermal;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(after(slowed, "gpu_clocks"), "ok");
  EXPECT_EQ(after(healthy(), "gpu_clocks"), "ok");
  EXPECT_EQ(after(slowed, "gpu_clocks"), "fail drain");
  now += 10min;
  EXPECT_EQ(after(healthy(), "gpu_clocks"), "ok");
}

TEST_F(GpuJudgeTest, clocks_that_are_low_for_harmless_reasons_are_ok) {
  GpuSample idle = healthy();
  idle.clock_reasons =
      0x1 | 0x2 | 0x4 | 0x10;  // idle, set by an application, power cap, sync boost
  for (int i = 0; i < 20; ++i) EXPECT_EQ(after(idle, "gpu_clocks"), "ok");
}

TEST_F(GpuJudgeTest, too_few_pcie_lanes_are_evicted) {
  EXPECT_EQ(alone("gpu_pcie_link", [](GpuSample& s) { s.pcie_width = 8; }), "fail evict");
  expected.pcie_width = 8;
  EXPECT_EQ(alone("gpu_pcie_link", [](GpuSample& s) { s.pcie_width = 8; }), "ok");
}

TEST_F(GpuJudgeTest, a_lower_pcie_generation_counts_under_load_and_twice) {
  GpuSample slow = healthy();
  slow.pcie_generation = 1;
  GpuSample idle = slow;
  idle.utilization_percent = 0;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(after(idle, "gpu_pcie_link"), "ok");
  EXPECT_EQ(after(slow, "gpu_pcie_link"), "ok");
  EXPECT_EQ(after(slow, "gpu_pcie_link"), "fail validate");
  EXPECT_EQ(after(healthy(), "gpu_pcie_link"), "ok");
}

TEST_F(GpuJudgeTest, pcie_replays_by_generation_and_lanes) {
  GpuSample sample = healthy();
  after(sample, "gpu_pcie_replays");
  sample.pcie_replays = 104;  // 16 a minute: 0.96 × 16 lanes
  EXPECT_EQ(after(sample, "gpu_pcie_replays"), "ok");
  sample.pcie_replays = 109;
  EXPECT_EQ(after(sample, "gpu_pcie_replays"), "warn");
}

TEST_F(GpuJudgeTest,
       an_nvlink_that_was_active_and_is_not_drains_a_bridge_and_evicts_from_a_switch) {
  GpuSample down = healthy();
  down.nvlinks[0] = {.index = 0, .is_active = false};
  EXPECT_EQ(after(down, "gpu_nvlink"), "ok");  // Never was active: there may be no bridge.
  EXPECT_EQ(after(healthy(), "gpu_nvlink"), "ok");
  EXPECT_EQ(after(down, "gpu_nvlink"), "fail drain");
  expected.has_nvswitch = true;
  EXPECT_EQ(after(down, "gpu_nvlink"), "fail evict");
}

TEST_F(GpuJudgeTest, nvlinks_have_time_to_come_up_with_their_machine) {
  expected.nvlinks = 1;
  GpuSample down = healthy();
  down.nvlinks[0] = {.index = 0, .is_active = false};
  now = MonoTime(150s);
  EXPECT_EQ(after(down, "gpu_nvlink"), "warn");
  EXPECT_EQ(after(down, "gpu_nvlink"), "fail drain");
}

TEST_F(GpuJudgeTest, nvlink_errors_warn_once_and_fail_twice) {
  GpuSample sample = healthy();
  after(sample, "gpu_nvlink");
  sample.nvlinks[0].crc_errors = 9 + 1'499;  // in 15 s: less than 100 a second
  EXPECT_EQ(after(sample, "gpu_nvlink"), "ok");
  sample.nvlinks[0].crc_errors = 9 + 1'499 + 1'500;
  EXPECT_EQ(after(sample, "gpu_nvlink"), "warn");
  sample.nvlinks[0].recoveries = 1;
  EXPECT_EQ(after(sample, "gpu_nvlink"), "fail validate");
}

TEST_F(GpuJudgeTest, a_stray_process_has_fifty_seconds) {
  const auto verdict = [&](Duration later, std::vector<pid_t> pids) {
    history.set_strays(now + later, std::move(pids));
    return verdict_of(judge_gpu(history, expected, limits, now + later), "gpu_stray_process",
                      "gpu 2");
  };
  history.add(now, healthy(), limits);
  EXPECT_EQ(verdict(0s, {4711}), "warn");
  EXPECT_EQ(verdict(49s, {4711}), "warn");
  EXPECT_EQ(verdict(50s, {4711}), "fail validate");
  EXPECT_EQ(verdict(51s, {}), "ok");
  EXPECT_EQ(verdict(52s, {4712}), "warn");
}

TEST(JudgeGpuCount, fewer_than_expected_are_evicted) {
  EXPECT_EQ(verdict_of(judge_gpu_count(8, 8)), "ok");
  EXPECT_EQ(verdict_of(judge_gpu_count(7, 8)), "fail evict");
  EXPECT_EQ(verdict_of(judge_gpu_count(9, 8)), "warn");
}

}  // namespace
}  // namespace hai
