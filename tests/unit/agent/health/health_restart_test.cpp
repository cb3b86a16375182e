// What an agent has found, and what its checks have seen, is there for the next one.

#include <functional>

#include "agent/health/health_monitor.h"
#include "sim/virtual_loop.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

// Says and remembers what the test wants; runs when the test says so.
struct ForgetfulCheck final : Check {
  ForgetfulCheck() : Check("gpu", {.period = 10s, .deadline = 5s}) {}
  std::vector<CheckResult> run(const CheckInput&) override { return says; }
  CheckMemory memory() const override { return remembers; }
  void restore(const CheckMemory& memory) override { remembers = memory; }
  std::vector<CheckResult> says = {make_ok(about_gpu("gpu_state", 0), "answers")};
  CheckMemory remembers;
};

struct HealthRestartTest : testing::Test {
  // A new agent, of which nothing has run yet.
  void start_agent(const std::string& boot_id = "boot-1", Keeping keeping = Keeping::writes) {
    stop_agent();
    auto made = std::make_unique<ForgetfulCheck>();
    check = made.get();
    std::vector<std::unique_ptr<Check>> checks;
    checks.push_back(std::move(made));
    monitor.emplace(loop, std::move(checks), [this](std::function<void()> work) {
      started.push_back(std::move(work));
      return true;
    });
    monitor->keep_at(file(), boot_id, keeping);
  }
  void stop_agent() {
    work_off();
    monitor.reset();
  }
  void look() {
    monitor->run_once([] {});
    work_off();
  }
  void work_off() {
    while (!started.empty()) {
      std::exchange(started, {}).front()();
      timeline.run_until(timeline.now());
    }
  }
  void wait(Duration duration) { timeline.run_until(timeline.now() + duration); }
  std::string file() const { return health_record_path(folder.path("")); }
  std::string verdict(const std::string& name, const std::string& subject = "") {
    return verdict_of(monitor->results(), name, subject);
  }

  TempFolder folder;
  Timeline timeline;
  VirtualLoop loop{timeline};
  std::vector<std::function<void()>> started;
  ForgetfulCheck* check = nullptr;
  std::optional<HealthMonitor> monitor;
  const CheckResult lost = make_fail(about_gpu("gpu_state", 0), HealthTier::evict,
                                     {.summary = "lost 3 times", .remedy = "reset it"});
};

TEST_F(HealthRestartTest, a_fault_stands_until_its_check_has_looked_again) {
  start_agent();
  wait(1min);
  check->says = {lost};
  look();
  const CheckResult before = result_of(monitor->results(), "gpu_state", "gpu 0");
  wait(1min);
  for (const char* boot_id : {"boot-1", "boot-2"}) {
    start_agent(boot_id);
    EXPECT_EQ(result_of(monitor->results(), "gpu_state", "gpu 0"), before) << boot_id;
    // A driver that hangs now hides nothing.
    monitor->run_once([] {});
    wait(6s);
    EXPECT_EQ(result_of(monitor->results(), "gpu_state", "gpu 0"), before) << boot_id;
    started.clear();  // The thread that hangs ends with its agent.
  }
  start_agent();
  look();
  EXPECT_EQ(verdict("gpu_state", "gpu 0"), "ok");
  start_agent();
  EXPECT_EQ(verdict("gpu_state", "gpu 0"), "none");
}

// Else the server would reboot a node for what the kernel said once.
TEST_F(HealthRestartTest, a_fault_that_only_the_site_knows_keeps_its_kind) {
  start_agent();
  check->says = {make_fail({.name = "site_fan_alarm"}, HealthTier::validate,
                           {.summary = "said once", .remedy = "look"})};
  check->says[0].said_kind->is_latched = true;
  look();
  start_agent();
  EXPECT_TRUE(result_of(monitor->results(), "site_fan_alarm").kind().is_latched);
}

TEST_F(HealthRestartTest, a_fault_that_is_seen_again_has_its_old_time) {
  start_agent();
  check->says = {lost};
  look();
  const UnixTime at = result_of(monitor->results(), "gpu_state", "gpu 0").at;
  wait(1min);
  start_agent();
  check->says = {lost};
  check->says[0].summary = "lost 4 times; remedy: reset it";
  look();
  EXPECT_EQ(result_of(monitor->results(), "gpu_state", "gpu 0").at, at) << "it is no new one";
}

TEST_F(HealthRestartTest, a_memory_outlives_the_agent_and_its_baselines_the_boot) {
  const CheckMemory memory{.lasting = {{"gpu 0", {{"nvlinks", {0, 1}}}}},
                           .of_boot = {{"gpu 0", {{"bad_samples", {5, 1, 0, 0}}}}}};
  start_agent();
  check->remembers = memory;
  look();
  start_agent();
  EXPECT_EQ(check->remembers, memory);
  start_agent("boot-2");
  EXPECT_EQ(check->remembers, (CheckMemory{.lasting = memory.lasting, .of_boot = {}}));
}

TEST_F(HealthRestartTest, who_only_reads_writes_nothing) {
  start_agent("boot-1", Keeping::reads);
  check->says = {lost};
  look();
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(HealthRestartTest, a_damaged_file_is_reported_and_replaced) {
  for (const char* text : {"", "{", "[1]", R"({"checks": 7})", R"({"checks": {"gpu": 7}})",
                           R"({"checks": {"gpu": {"lasting": {"gpu 0": [1]}}}})",
                           R"({"checks": {"gpu": {"faults": [{"subject": "gpu 0"}]}}})"}) {
    folder.write("health.json", text);
    start_agent();
    EXPECT_EQ(verdict("health_record"), "warn") << text;
    look();
    EXPECT_EQ(verdict("gpu_state", "gpu 0"), "ok") << text;
    start_agent();
    EXPECT_EQ(verdict("health_record"), "none") << text;
  }
}

TEST_F(HealthRestartTest, files_of_older_and_newer_agents_are_read) {
  folder.write("health.json",
               R"({"boot_id": "boot-1", "colour": "red", "checks": {
                     "gpu": {"faults": [{"name": "gpu_state", "shade": 3}], "hue": [1]},
                     "telepathy": {"lasting": {}}}})");
  start_agent();
  EXPECT_EQ(verdict("gpu_state"), "fail validate");
  EXPECT_EQ(verdict("health_record"), "none");
}

TEST_F(HealthRestartTest, a_disk_that_takes_nothing_is_said_and_tried_again) {
  start_agent();
  std::filesystem::create_directories(file() + ".tmp");  // Where it is written first.
  look();
  look();
  EXPECT_EQ(verdict("health_record"), "warn");
  std::filesystem::remove(file() + ".tmp");
  look();
  look();
  EXPECT_EQ(verdict("health_record"), "none");
}

TEST_F(HealthRestartTest, nothing_is_written_while_nothing_is_new) {
  start_agent();
  check->says = {lost};
  look();
  std::filesystem::remove(file());
  check->says[0].summary = "lost 4 times; remedy: reset it";  // a reading
  look();
  EXPECT_FALSE(std::filesystem::exists(file()));
}

}  // namespace
}  // namespace hai
