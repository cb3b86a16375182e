// The monitor with checks of the test's making, on virtual time: what runs is ended by the test.

#include "agent/health/health_monitor.h"

#include <stdexcept>

#include "agent/health/merge_results.h"
#include "agent/health/results.h"
#include "common/asio_loop.h"
#include "sim/virtual_loop.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

struct FakeCheck final : Check {
  FakeCheck(std::string name, CheckPace pace) : Check(std::move(name), pace) {}
  std::vector<CheckResult> run(const CheckInput& input) override {
    ++runs;
    if (throws) throw std::runtime_error("out of paper");
    cleared = input.cleared;
    return says;
  }
  std::vector<CheckResult> says;
  std::vector<ClearedFault> cleared;
  int runs = 0;
  bool throws = false;
};

struct HealthMonitorTest : testing::Test {
  HealthMonitorTest() {
    std::vector<std::unique_ptr<Check>> checks;
    for (FakeCheck** check : {&disk, &gpu}) {
      auto made = std::make_unique<FakeCheck>(check == &disk ? "disk" : "gpu",
                                              CheckPace{.period = 10s, .deadline = 5s});
      *check = made.get();
      checks.push_back(std::move(made));
    }
    disk->says = {make_ok({"disk", "sda", {}}, "works")};
    gpu->says = {make_ok(about_gpu("gpu", 0), "40 C")};
    monitor.emplace(loop, std::move(checks), [this](std::function<void()> work) {
      if (is_out_of_threads) return false;
      started.push_back(std::move(work));
      return true;
    });
    monitor->set_on_change([this] { ++changes; });
  }

  void advance(Duration duration) { timeline.run_until(timeline.now() + duration); }
  // Ends what has been started, but keeps the first `hanging`.
  void work_off(size_t hanging = 0) {
    while (started.size() > hanging) {
      auto work = std::move(started.back());
      started.pop_back();
      work();
    }
    advance(0s);
  }
  std::string verdict(const std::string& name, const std::string& subject) {
    return verdict_of(monitor->results(), name, subject);
  }

  Timeline timeline;
  VirtualLoop loop{timeline};
  FakeCheck* disk = nullptr;
  FakeCheck* gpu = nullptr;
  std::vector<std::function<void()>> started;
  std::optional<HealthMonitor> monitor;
  int changes = 0;
  bool is_out_of_threads = false;
};

TEST_F(HealthMonitorTest, runs_each_check_once_a_period_and_lists_results_by_name) {
  monitor->start();
  advance(1s);
  work_off();
  ASSERT_EQ(monitor->results().size(), 2u);
  EXPECT_EQ(monitor->results()[0].name, "disk");
  EXPECT_EQ(monitor->results()[1].name, "gpu");
  for (int i = 0; i < 3; ++i) {
    advance(10s);
    work_off();
  }
  EXPECT_EQ(disk->runs, 4);
  EXPECT_EQ(gpu->runs, 4);
}

TEST_F(HealthMonitorTest, a_hanging_check_is_unknown_is_not_started_again_and_delays_no_other) {
  monitor->start();
  advance(1s);
  work_off();
  advance(9s);  // Both begin again: the disk's first.
  advance(1s);
  ASSERT_EQ(started.size(), 2u);
  work_off(1);  // The GPU's ends, the disk's hangs.
  advance(5s);
  EXPECT_EQ(verdict("disk", "sda"), "unknown");
  EXPECT_EQ(result_of(monitor->results(), "disk", "sda").summary,
            "did not end within 5s; remedy: look which driver or file system hangs; reboot if it "
            "stays");
  for (int i = 0; i < 50; ++i) {
    advance(1s);
    work_off(1);
  }
  EXPECT_EQ(disk->runs, 1);  // Its second has begun and not ended.
  EXPECT_GE(gpu->runs, 6);
  EXPECT_EQ(verdict("gpu", "gpu 0"), "ok");
  work_off();  // It ends: what it says is old, so it is asked anew.
  work_off();
  EXPECT_EQ(verdict("disk", "sda"), "ok");
}

// As NVML does when a GPU has fallen off the bus under its driver.
TEST_F(HealthMonitorTest, a_check_that_hangs_for_long_is_a_failure_until_it_ends) {
  monitor->start();
  advance(1s);
  work_off();
  advance(10s);
  work_off(1);  // The GPU's ends, the disk's hangs.
  for (int i = 0; i < 290; ++i) {
    advance(1s);
    work_off(1);
  }
  EXPECT_EQ(verdict("disk", "sda"), "unknown");
  EXPECT_EQ(std::count_if(monitor->results().begin(), monitor->results().end(),
                          [](const auto& result) { return result.name == "check_stuck"; }),
            0);
  for (int i = 0; i < 20; ++i) {
    advance(1s);
    work_off(1);
  }
  EXPECT_EQ(verdict("check_stuck", "disk"), "fail validate");
  EXPECT_EQ(monitor->results().size(), 3u);
  for (int i = 0; i < 600; ++i) {
    advance(1s);
    work_off(1);
  }
  EXPECT_EQ(monitor->results().size(), 3u) << "said once";
  work_off();
  work_off();
  EXPECT_EQ(verdict("disk", "sda"), "ok");
  EXPECT_EQ(monitor->results().size(), 2u);
}

TEST_F(HealthMonitorTest, a_check_that_never_said_anything_is_unknown_by_its_own_name) {
  monitor->start();
  advance(6s);
  EXPECT_EQ(verdict("disk", ""), "unknown");
  EXPECT_EQ(verdict("gpu", ""), "unknown");
}

TEST_F(HealthMonitorTest, a_check_that_cannot_be_started_is_unknown_and_tried_again) {
  monitor->start();
  advance(1s);
  work_off();
  is_out_of_threads = true;
  advance(10s);
  EXPECT_THAT(result_of(monitor->results(), "disk", "sda").summary,
              testing::StartsWith("could not be started; remedy: "));
  is_out_of_threads = false;
  advance(10s);
  work_off();
  EXPECT_EQ(verdict("disk", "sda"), "ok");
}

TEST_F(HealthMonitorTest, a_check_that_throws_is_unknown) {
  disk->throws = true;
  monitor->start();
  advance(1s);
  work_off();
  EXPECT_THAT(result_of(monitor->results(), "disk").summary,
              testing::StartsWith("broke off: out of paper; remedy: "));
}

TEST_F(HealthMonitorTest, a_failure_stands_while_its_check_hangs) {
  gpu->says = {
      make_fail(about_gpu("gpu", 0), HealthTier::evict, {.summary = "lost", .remedy = "reset it"})};
  monitor->start();
  advance(1s);
  work_off();
  advance(20s);
  EXPECT_EQ(verdict("gpu", "gpu 0"), "fail evict");
  EXPECT_EQ(verdict("disk", "sda"), "unknown");
}

TEST_F(HealthMonitorTest, a_reading_that_moves_changes_neither_time_nor_digest) {
  monitor->start();
  advance(1s);
  work_off();
  const uint64_t digest = monitor->digest();
  const UnixTime at = result_of(monitor->results(), "gpu", "gpu 0").at;
  const int before = changes;
  gpu->says = {make_ok(about_gpu("gpu", 0), "41.5 C")};
  advance(10s);
  work_off();
  EXPECT_EQ(result_of(monitor->results(), "gpu", "gpu 0").summary, "41.5 C");
  EXPECT_EQ(result_of(monitor->results(), "gpu", "gpu 0").at, at);
  EXPECT_EQ(monitor->digest(), digest);
  EXPECT_EQ(changes, before);
  gpu->says = {make_warn(about_gpu("gpu", 0), {.summary = "95 C", .remedy = "cool it"})};
  advance(10s);
  work_off();
  EXPECT_GT(result_of(monitor->results(), "gpu", "gpu 0").at, at);
  EXPECT_NE(monitor->digest(), digest);
  EXPECT_EQ(changes, before + 1);
}

TEST_F(HealthMonitorTest, clearing_reaches_the_check_that_said_it_at_once) {
  monitor->start();
  advance(1s);
  work_off();
  monitor->clear("gpu", "gpu 0", kWall);
  monitor->clear("gpu", "gpu 7", kWall);
  ASSERT_EQ(started.size(), 1u);
  work_off();
  ASSERT_EQ(gpu->cleared.size(), 1u);
  EXPECT_EQ(gpu->cleared[0].subject, "gpu 0");
  EXPECT_TRUE(disk->cleared.empty());
}

TEST_F(HealthMonitorTest, a_round_ends_when_each_has_ended_or_is_past_its_deadline) {
  bool is_done = false;
  monitor->run_once([&] { is_done = true; });
  work_off(1);
  EXPECT_FALSE(is_done);
  advance(5s);
  EXPECT_TRUE(is_done);
}

TEST_F(HealthMonitorTest, what_hangs_outlives_the_monitor_and_touches_nothing) {
  monitor->start();
  advance(10s);
  monitor.reset();
  work_off();
  EXPECT_TRUE(started.empty());
}

TEST(HealthMonitorThreads, real_threads_hand_their_results_to_the_loop) {
  AsioLoop loop;
  std::vector<std::unique_ptr<Check>> checks;
  for (int i = 0; i < 8; ++i) {
    const std::string name = fmt::format("check_{}", i);
    auto check = std::make_unique<FakeCheck>(name, CheckPace{.period = 10s, .deadline = 30s});
    check->says = {make_ok({name, "", {}}, "well")};
    checks.push_back(std::move(check));
  }
  HealthMonitor monitor(loop, std::move(checks));
  monitor.run_once([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(monitor.results().size(), 8u);
}

TEST(MergeResults, bounds_the_list_and_keeps_what_is_worst) {
  std::vector<CheckResult> found;
  for (int i = 0; i < 2'000; ++i)
    found.push_back(make_ok({"a", fmt::format("thing {}", i), {}}, "well"));
  found.push_back(make_fail({"z", "last", {}}, HealthTier::drain,
                            {.summary = std::string(10'000, 'x'),
                             .remedy = "replace it",
                             .evidence = std::string(10'000, 'y')}));
  const std::vector<CheckResult> merged = merge_results(found, {}, kWall);
  EXPECT_EQ(merged.size(), HealthMonitor::kResultsMax);
  const CheckResult last = result_of(merged, "z", "last");
  EXPECT_EQ(last.summary.size(), HealthMonitor::kSummaryBytesMax);
  EXPECT_THAT(last.summary, testing::EndsWith("x; remedy: replace it"));
  EXPECT_EQ(last.evidence.size(), kEvidenceBytesMax);
}

TEST(MergeResults, of_two_with_one_name_and_subject_the_worse_stays) {
  const std::vector<CheckResult> merged = merge_results(
      {make_ok({"a", "b", {}}, "well"), make_fail({"a", "b", {}}, HealthTier::drain, {"bad", "x"}),
       make_fail({"a", "b", {}}, HealthTier::evict, {"worse", "x"})},
      {}, kWall);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].summary, "worse; remedy: x");
}

TEST(MergeResults, says_nothing_that_is_no_text) {
  std::string cut(HealthMonitor::kSummaryBytesMax - 1, 'x');
  cut += "…";  // Three bytes, of which one would fit.
  CheckResult bad = make_warn({"a", "\xff\x01", {}}, {.summary = {}, .remedy = {}});
  bad.summary = cut;
  bad.evidence = std::string("one\ntwo\0", 8);
  const std::vector<CheckResult> merged = merge_results({bad}, {}, kWall);
  EXPECT_EQ(merged[0].subject, "??");
  EXPECT_EQ(merged[0].summary, cut.substr(0, HealthMonitor::kSummaryBytesMax - 1));
  EXPECT_EQ(merged[0].evidence, "one two?");
}

TEST(SummaryKind, stands_for_every_number_alike) {
  EXPECT_EQ(summary_kind("95 C, limit 93 C"), "# C, limit # C");
  EXPECT_EQ(summary_kind("0.5 of 1,024"), "# of #");
  EXPECT_EQ(summary_kind("gone"), "gone");
}

}  // namespace
}  // namespace hai
