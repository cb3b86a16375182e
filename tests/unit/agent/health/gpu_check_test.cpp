// The check as in production, on a library with NVML's ABI that answers from a file
// (tests/support/stub_nvml).

#include "agent/health/gpu_check.h"

#include <cstdlib>

#include "agent/health/health_monitor.h"
#include "common/asio_loop.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

struct GpuCheckTest : testing::Test {
  GpuCheckTest() {
    ::setenv("HAI_STUB_NVML", folder.path("gpus").c_str(), 1);
    say("count 2\n");
  }
  ~GpuCheckTest() override { ::unsetenv("HAI_STUB_NVML"); }
  // Replaced at once, because the library may be reading it.
  void say(const std::string& text) const {
    folder.write("new", text);
    std::filesystem::rename(folder.path("new"), folder.path("gpus"));
  }
  GpuCheckOptions options(const std::string& library = HAI_STUB_NVML_LIBRARY, int expected = 2) {
    return {.nvml_library = library, .proc_root = folder.path("proc"), .expected_gpus = expected};
  }
  std::vector<CheckResult> look(GpuCheck& check) { return check.run(input_at(at += 15s)); }

  TempFolder folder;
  Duration at{0};
};

TEST_F(GpuCheckTest, healthy_gpus_are_ok) {
  GpuCheck check(options());
  const std::vector<CheckResult> results = look(check);
  EXPECT_EQ(results.size(), 1u + 2 * 10);
  for (const CheckResult& result : results) {
    const auto want = result.name == "gpu_nvlink" ? CheckVerdict::unknown : CheckVerdict::ok;
    EXPECT_EQ(result.verdict, want) << result.name << " " << result.subject;
  }
}

TEST_F(GpuCheckTest, a_gpu_is_lost_while_we_look_and_comes_back) {
  GpuCheck check(options());
  EXPECT_EQ(verdict_of(look(check), "gpu_state", "gpu 1"), "ok");
  say("count 2\ngpu 1 result 15\n");
  const std::vector<CheckResult> lost = look(check);
  EXPECT_EQ(verdict_of(lost, "gpu_state", "gpu 1"), "fail evict");
  EXPECT_EQ(result_of(lost, "gpu_state", "gpu 1").summary,
            "NVML: GPU is lost (15); remedy: reset the GPU or reboot; service if it comes back");
  EXPECT_EQ(verdict_of(lost, "gpu_state", "gpu 0"), "ok");
  say("count 1\n");
  EXPECT_EQ(verdict_of(look(check), "gpu_count"), "fail evict");
  say("count 2\n");
  EXPECT_EQ(verdict_of(look(check), "gpu_count"), "ok");
  EXPECT_EQ(verdict_of(look(check), "gpu_state", "gpu 1"), "ok");
}

TEST_F(GpuCheckTest, readings_are_on_the_board_while_there_are_gpus) {
  GpuCheckOptions with_board = options();
  with_board.board = std::make_shared<GpuReadingBoard>();
  GpuCheck check(with_board);
  say("count 2\ngpu 1 temperature 67\ngpu 1 utilization 93\ngpu 1 memory_permille 416\n"
      "gpu 1 milliwatts 391600\n");
  look(check);
  const std::vector<GpuReading> readings = with_board.board->get();
  ASSERT_EQ(readings.size(), 2u);
  EXPECT_EQ(readings[1], (GpuReading{93, 67, 42, 392}));
  say("count 2\ngpu 1 result 15\n");
  look(check);
  EXPECT_EQ(with_board.board->get().at(1), GpuReading{}) << "it is lost and says nothing";
  say("count 0\n");
  look(check);
  EXPECT_TRUE(with_board.board->get().empty());
}

TEST_F(GpuCheckTest, every_reading_comes_through_the_library) {
  say("count 2\n"
      "gpu * nvlinks 4\n"
      "gpu 0 recovery 1\ngpu 0 remapped_pending 1\ngpu 0 ecc_uncorrected 3\n"
      "gpu 0 temperature 97\ngpu 0 pcie_width 8\ngpu 0 pid 4711\n"
      "gpu 1 remapped_failed 1\ngpu 1 sram_corrected 10001\n");
  GpuCheck check(options());
  const std::vector<CheckResult> results = look(check);
  EXPECT_EQ(verdict_of(results, "gpu_recovery_action", "gpu 0"), "fail drain");
  EXPECT_EQ(verdict_of(results, "gpu_remapped_rows", "gpu 0"), "fail drain");
  EXPECT_EQ(verdict_of(results, "gpu_remapped_rows", "gpu 1"), "fail evict");
  EXPECT_EQ(verdict_of(results, "gpu_ecc", "gpu 0"), "fail evict");
  EXPECT_EQ(verdict_of(results, "gpu_ecc", "gpu 1"), "warn");
  EXPECT_EQ(verdict_of(results, "gpu_temperature", "gpu 0"), "warn");
  EXPECT_EQ(verdict_of(results, "gpu_pcie_link", "gpu 0"), "fail evict");
  EXPECT_EQ(verdict_of(results, "gpu_stray_process", "gpu 0"), "warn");
  EXPECT_EQ(result_of(results, "gpu_nvlink", "gpu 1").summary, "4 of 4 NVLinks active");
}

TEST_F(GpuCheckTest, an_nvlink_goes_down_and_counts_errors) {
  say("count 1\ngpu 0 nvlinks 2\n");
  GpuCheck check(options(HAI_STUB_NVML_LIBRARY, 1));
  look(check);
  say("count 1\ngpu 0 nvlinks 2\ngpu 0 nvlink_1_crc 15000\n");
  EXPECT_EQ(verdict_of(look(check), "gpu_nvlink", "gpu 0"), "warn");
  say("count 1\ngpu 0 nvlinks 2\ngpu 0 nvlink_1_state 0\n");
  EXPECT_EQ(verdict_of(look(check), "gpu_nvlink", "gpu 0"), "fail drain");
}

TEST_F(GpuCheckTest, says_how_many_nvlinks_of_those_there_are_are_active) {
  const std::string two_down =
      "count 1\ngpu 0 nvlinks 18\ngpu 0 nvlink_3_state 0\ngpu 0 nvlink_7_state 0\n";
  say(two_down);
  GpuCheck check(options(HAI_STUB_NVML_LIBRARY, 1));
  const CheckResult unsure = result_of(look(check), "gpu_nvlink", "gpu 0");
  EXPECT_EQ(verdict_of(unsure), "warn");
  EXPECT_EQ(unsure.summary,
            "16 of 18 NVLinks active, and nobody says how many should be; remedy: set "
            "health.expect.gpu_nvlinks of the agent's config");

  GpuCheckOptions with_18 = options(HAI_STUB_NVML_LIBRARY, 1);
  with_18.expected_nvlinks = 18;
  GpuCheck first_time(with_18);
  const CheckResult missing = result_of(look(first_time), "gpu_nvlink", "gpu 0");
  EXPECT_EQ(verdict_of(missing), "fail drain");
  EXPECT_THAT(missing.summary, testing::StartsWith("16 of 18 NVLinks active, expected 18; remedy"));

  GpuCheckOptions with_16 = options(HAI_STUB_NVML_LIBRARY, 1);
  with_16.expected_nvlinks = 16;
  GpuCheck bridged(with_16);
  EXPECT_EQ(verdict_of(look(bridged), "gpu_nvlink", "gpu 0"), "ok");
  say("count 1\ngpu 0 nvlinks 18\n");
  EXPECT_EQ(verdict_of(look(bridged), "gpu_nvlink", "gpu 0"), "ok");
  say(two_down);
  EXPECT_EQ(verdict_of(look(bridged), "gpu_nvlink", "gpu 0"), "ok") << "16 are enough";
}

TEST_F(GpuCheckTest, a_link_that_is_lost_is_missed_by_the_next_agent_and_after_a_reboot) {
  say("count 1\ngpu 0 nvlinks 2\n");
  GpuCheck check(options(HAI_STUB_NVML_LIBRARY, 1));
  look(check);
  say("count 1\ngpu 0 nvlinks 2\ngpu 0 nvlink_1_state 0\n");
  look(check);
  CheckMemory memory = check.memory();
  for (const bool is_rebooted : {false, true}) {
    if (is_rebooted) memory.of_boot.clear();
    GpuCheck next(options(HAI_STUB_NVML_LIBRARY, 1));
    next.restore(memory);
    const CheckResult lost = result_of(look(next), "gpu_nvlink", "gpu 0");
    EXPECT_EQ(verdict_of(lost), "fail drain");
    EXPECT_THAT(lost.summary,
                testing::StartsWith("1 of 2 NVLinks active; were active and are not: 1; remedy"));
    EXPECT_EQ(next.memory().lasting, memory.lasting);
  }
}

TEST_F(GpuCheckTest, a_gpu_that_was_away_comes_back_with_all_its_links_or_is_missed) {
  say("count 2\ngpu * nvlinks 2\n");
  GpuCheck check(options());
  look(check);
  say("count 1\ngpu * nvlinks 2\n");
  look(check);
  const CheckFacts away = check.memory().lasting;
  EXPECT_EQ(numbers_of(away, "gpu 1", "nvlinks"), (std::vector<int64_t>{0, 1}));
  say("count 2\ngpu * nvlinks 2\ngpu 1 nvlink_0_state 0\n");
  look(check);  // NVML is opened anew.
  EXPECT_EQ(verdict_of(look(check), "gpu_nvlink", "gpu 1"), "fail drain");
}

TEST_F(GpuCheckTest, slowed_clocks_and_strays_count_on_in_the_next_agent) {
  GpuCheck check(options());
  say("count 2\ngpu 0 reasons 64\ngpu 1 pid 4711\n");
  std::vector<CheckResult> results;
  for (int i = 0; i < 6; ++i) results = look(check);
  ASSERT_EQ(verdict_of(results, "gpu_clocks", "gpu 0"), "fail drain");
  ASSERT_EQ(verdict_of(results, "gpu_stray_process", "gpu 1"), "fail validate");
  GpuCheck next(options());
  next.restore(check.memory());
  results = look(next);
  EXPECT_EQ(verdict_of(results, "gpu_clocks", "gpu 0"), "fail drain");
  EXPECT_EQ(verdict_of(results, "gpu_stray_process", "gpu 1"), "fail validate");
  at += 10min;
  say("count 2\n");
  results = look(next);
  EXPECT_EQ(verdict_of(results, "gpu_clocks", "gpu 0"), "ok");
  EXPECT_EQ(verdict_of(results, "gpu_stray_process", "gpu 1"), "ok");
  EXPECT_TRUE(next.memory().of_boot.empty()) << "nothing that changes with each look";
}

TEST_F(GpuCheckTest, a_gpu_that_no_start_of_the_machine_brings_back_is_missed) {
  folder.copy(kHealthData + "/node/proc", "proc");
  GpuCheck check(options(HAI_STUB_NVML_LIBRARY, -1));
  look(check);
  std::filesystem::remove_all(folder.path("proc/driver/nvidia/gpus/0000:86:00.0"));
  say("count 1\n");
  GpuCheck next(options(HAI_STUB_NVML_LIBRARY, -1));
  next.restore({.lasting = check.memory().lasting, .of_boot = {}});
  EXPECT_EQ(verdict_of(look(next), "gpu_count"), "fail evict");
  GpuCheck told(options(HAI_STUB_NVML_LIBRARY, 1));  // The config knows better.
  told.restore({.lasting = check.memory().lasting, .of_boot = {}});
  EXPECT_EQ(verdict_of(look(told), "gpu_count"), "ok");
}

TEST_F(GpuCheckTest, takes_nothing_of_a_foreign_memory_for_granted) {
  CheckMemory memory;
  memory.lasting = {{"", {{"gpus", {-7}}}}, {"gpu 0", {{"nvlinks", {-1, 99}}, {"wings", {2}}}}};
  memory.of_boot = {{"gpu 0", {{"bad_samples", {1, 2}}, {"strays_since", {}}}}, {"moon", {}}};
  GpuCheck check(options());
  check.restore(memory);
  for (const CheckResult& result : look(check)) {
    if (result.name == "gpu_nvlink") continue;
    EXPECT_EQ(result.verdict, CheckVerdict::ok) << result.name;
  }
}

TEST_F(GpuCheckTest, processes_of_our_ranks_and_on_gpus_in_use_are_no_strays) {
  say("count 2\ngpu * pid 4711\n");
  GpuCheck check(options());
  CheckInput input = input_at(0s);
  input.use = {.gpus_in_use = GpuSet{1}, .rank_pids = {}};
  const std::vector<CheckResult> results = check.run(input);
  EXPECT_EQ(verdict_of(results, "gpu_stray_process", "gpu 0"), "ok");
  EXPECT_EQ(verdict_of(results, "gpu_stray_process", "gpu 1"), "warn");
  input.use.rank_pids = {4711};
  EXPECT_EQ(verdict_of(check.run(input), "gpu_stray_process", "gpu 1"), "ok");
}

TEST_F(GpuCheckTest, an_older_driver_lacks_functions_and_that_is_no_failure) {
  say("count 1\ngpu 0 reasons 64\n");
  GpuCheck check(options(HAI_STUB_NVML_OLD_LIBRARY, 1));
  std::vector<CheckResult> results;
  for (int i = 0; i < 6; ++i) results = look(check);
  EXPECT_EQ(verdict_of(results, "gpu_recovery_action", "gpu 0"), "unknown");
  EXPECT_EQ(verdict_of(results, "gpu_remapped_rows", "gpu 0"), "unknown");
  EXPECT_EQ(verdict_of(results, "gpu_clocks", "gpu 0"), "fail drain");  // By its older name.
  EXPECT_EQ(verdict_of(results, "gpu_state", "gpu 0"), "ok");
}

TEST_F(GpuCheckTest, without_library_or_driver_the_expectation_decides) {
  GpuCheck none(options("libnone-such.so.1", 0));
  EXPECT_EQ(verdict_of(look(none), "gpu_count"), "unknown");
  GpuCheck missing(options("libnone-such.so.1", 8));
  EXPECT_EQ(verdict_of(look(missing), "gpu_count"), "unknown");
  say("count 2\ninit 9\n");
  GpuCheck broken(options());
  const CheckResult result = result_of(look(broken), "gpu_count");
  EXPECT_EQ(verdict_of(result), "fail evict");
  EXPECT_EQ(result.summary,
            "2 GPUs expected, and NVML: Driver Not Loaded (9); remedy: load the driver, or reboot");
}

TEST_F(GpuCheckTest, expects_what_the_driver_listed_at_first) {
  folder.copy(kHealthData + "/node/proc", "proc");
  GpuCheck check(options(HAI_STUB_NVML_LIBRARY, -1));
  say("count 1\n");
  EXPECT_EQ(result_of(look(check), "gpu_count").summary,
            "1 GPU, expected 2; remedy: reboot; service if it stays away");
  say("count 2\n");
  EXPECT_EQ(verdict_of(look(check), "gpu_count"), "ok");
}

// A driver that hangs holds a thread, and nothing else: the loop and other checks go on.
TEST_F(GpuCheckTest, a_driver_that_hangs_makes_the_check_unknown) {
  struct HastyCheck final : Check {
    HastyCheck(GpuCheckOptions options)
        : Check("gpu", {.period = 1h, .deadline = 100ms}), inner(std::move(options)) {}
    std::vector<CheckResult> run(const CheckInput& input) override { return inner.run(input); }
    GpuCheck inner;
  };
  say("count 2\nhang nvmlDeviceGetTemperature\n");
  AsioLoop loop;
  {
    std::vector<std::unique_ptr<Check>> checks;
    checks.push_back(std::make_unique<HastyCheck>(options()));
    HealthMonitor monitor(loop, std::move(checks));
    monitor.run_once([&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(verdict_of(monitor.results(), "gpu"), "unknown");
    say("count 2\n");
    monitor.set_on_change([&] {
      if (verdict_of(monitor.results(), "gpu_state", "gpu 0") == "ok") loop.stop();
    });
    loop.run();
    EXPECT_EQ(verdict_of(monitor.results(), "gpu"), "none");
  }
}

}  // namespace
}  // namespace hai
