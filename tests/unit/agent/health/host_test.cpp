#include "agent/health/host_check.h"

#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

struct HostTest : testing::Test {
  HostTest() {
    folder.copy(kHealthData + "/node/sys", "sys");
    folder.copy(kHealthData + "/node/proc", "proc");
    options.sys_root = folder.path("sys");
    options.proc_root = folder.path("proc");
  }
  TempFolder folder;
  HostCheckOptions options;
};

TEST_F(HostTest, a_healthy_node_is_ok) {
  HostCheck check(options);
  CheckInput input = input_at(0s);
  input.use.server_skew = 20ms;
  const std::vector<CheckResult> results = check.run(input);
  EXPECT_EQ(results.size(), 8u);
  for (const CheckResult& result : results) {
    EXPECT_EQ(result.verdict, CheckVerdict::ok) << result.name << ": " << result.summary;
  }
}

TEST_F(HostTest, memory_that_jobs_left_in_use_is_a_warning) {
  folder.write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 240000 kB\n");
  HostCheck check(options);
  const auto verdict = [&check](const CheckInput& input) {
    const std::vector<CheckResult> results = check.run(input);
    return std::ranges::find(results, "memory_free", &CheckResult::name)->verdict;
  };
  CheckInput input = input_at(0s);
  EXPECT_EQ(verdict(input), CheckVerdict::warn);
  input.use.rank_pids = {17};
  EXPECT_EQ(verdict(input), CheckVerdict::ok);
  input.use.rank_pids.clear();
  folder.write("proc/meminfo", "MemTotal: 1000000 kB\nMemAvailable: 260000 kB\n");
  EXPECT_EQ(verdict(input), CheckVerdict::ok);
}

TEST_F(HostTest, nothing_to_read_is_unknown) {
  options.sys_root = options.proc_root = folder.path("none");
  HostCheck check(options);
  for (const CheckResult& result : check.run(input_at(0s))) {
    if (result.name == "version") continue;
    EXPECT_EQ(result.verdict, CheckVerdict::unknown) << result.name;
  }
}

TEST_F(HostTest, offline_cores_a_lost_tsc_and_uncorrectable_memory_fail) {
  folder.write("sys/devices/system/cpu/online", "0-31,33-63\n");
  folder.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  folder.write("sys/devices/system/edac/mc/mc1/ue_count", "1\n");
  HostCheck check(options);
  const std::vector<CheckResult> results = check.run(input_at(0s));
  EXPECT_EQ(result_of(results, "cpu_count").summary,
            "63 CPUs online, expected 64; remedy: reboot, then service");
  EXPECT_EQ(verdict_of(results, "cpu_count"), "fail validate");
  EXPECT_EQ(verdict_of(results, "clock_source"), "fail validate");
  EXPECT_EQ(verdict_of(results, "memory_errors", "mc1"), "fail drain");
  EXPECT_EQ(verdict_of(results, "memory_errors", "mc0"), "ok");
}

TEST_F(HostTest, versions_are_held_against_the_manifest) {
  folder.write("manifest",
               "# of group training\nagent: 1.2.3\nnvidia_driver: 550.54.15\n"
               "kernel: 6.1.0\nfirmware: 7\n");
  options.manifest = folder.path("manifest");
  options.agent_version = "1.2.2";
  HostCheck check(options);
  const std::vector<CheckResult> results = check.run(input_at(0s));
  EXPECT_EQ(verdict_of(results, "version", "agent"), "warn");
  EXPECT_EQ(verdict_of(results, "version", "nvidia_driver"), "ok");
  EXPECT_EQ(verdict_of(results, "version", "kernel"), "fail validate");
  EXPECT_EQ(verdict_of(results, "version", "firmware"), "unknown");
}

TEST_F(HostTest, the_driver_tells_its_version_in_proc_too) {
  std::filesystem::remove_all(folder.path("sys/module"));
  folder.write("proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19\n");
  EXPECT_EQ(nvidia_driver_version(options.sys_root, options.proc_root), "535.129.03");
}

TEST(CountCpuList, counts_ranges) {
  EXPECT_EQ(count_cpu_list("0-3,8,10-11"), 7);
  EXPECT_EQ(count_cpu_list("0"), 1);
  for (const char* text : {"?", "3-1", "0-99999999", "a-b", "0-"}) {
    EXPECT_FALSE(count_cpu_list(text)) << text;
  }
}

TEST(JudgeMemory, less_than_the_limit_fails) {
  const HealthLimits limits;
  constexpr int64_t kGiB = int64_t{1} << 30;
  EXPECT_EQ(verdict_of(judge_memory(500 * kGiB, 512 * kGiB, limits)), "ok");
  EXPECT_EQ(verdict_of(judge_memory(480 * kGiB, 512 * kGiB, limits)), "fail validate");
  EXPECT_EQ(verdict_of(judge_memory(1, 0, limits)), "ok");
}

TEST(JudgeClockSkew, warns_beyond_a_second_either_way) {
  const HealthLimits limits;
  EXPECT_EQ(verdict_of(judge_clock_skew(std::nullopt, limits)), "unknown");
  EXPECT_EQ(verdict_of(judge_clock_skew(1s, limits)), "ok");
  EXPECT_EQ(verdict_of(judge_clock_skew(-1'001ms, limits)), "warn");
}

TEST(JudgeClockSource, as_expected_or_at_least_fast) {
  EXPECT_EQ(verdict_of(judge_clock_source("kvm-clock", "")), "ok");
  EXPECT_EQ(verdict_of(judge_clock_source("kvm-clock", "tsc")), "fail validate");
  EXPECT_EQ(verdict_of(judge_clock_source("acpi_pm", "")), "fail validate");
}

TEST(JudgeEdac, corrected_errors_count_for_an_hour_and_not_from_before) {
  const HealthLimits limits;
  EdacHistory history;
  history.add(MonoTime(1h), {.corrected = 100'000});
  EXPECT_EQ(verdict_of(judge_edac("mc0", history, limits)), "ok");
  history.add(MonoTime(2h), {.corrected = 100'101});
  EXPECT_EQ(verdict_of(judge_edac("mc0", history, limits)), "warn");
  history.add(MonoTime(3h + 1s), {.corrected = 100'101});
  EXPECT_EQ(verdict_of(judge_edac("mc0", history, limits)), "ok");
}

}  // namespace
}  // namespace hai
