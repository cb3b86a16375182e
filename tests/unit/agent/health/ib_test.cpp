// InfiniBand ports: a recorded tree, of which single files are changed.

#include "agent/health/ib_check.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

struct IbTest : testing::Test {
  IbTest() { folder.copy(kHealthData + "/node/sys", "sys"); }
  IbCheck make(IbCheckOptions options = {}) {
    options.sys_root = folder.path("sys");
    return IbCheck(std::move(options));
  }
  void set(const std::string& file, const std::string& text) {
    folder.write("sys/class/infiniband/mlx5_0/ports/1/" + file, text + "\n");
  }
  void go_down() {
    set("state", "1: DOWN");
    set("phys_state", "2: Polling");
  }
  void come_up() {
    set("state", "4: ACTIVE");
    set("phys_state", "5: LinkUp");
  }
  TempFolder folder;
};

TEST_F(IbTest, reads_a_recorded_port) {
  const std::vector<IbPort> ports = read_ib_ports(folder.path("sys"), {});
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0], (IbPort{.name = "mlx5_0/1",
                              .state = "ACTIVE",
                              .phys_state = "LinkUp",
                              .link_layer = "InfiniBand",
                              .rate_gigabits = 200,
                              .link_downed = 1,
                              .link_error_recovery = 0,
                              .symbol_errors = 3,
                              .receive_errors = 0,
                              .received_words = 81'234'567}));
  EXPECT_EQ(read_ib_ports(folder.path("sys"), {"mlx5_0"}).size(), 1u);
}

TEST_F(IbTest, a_healthy_node_is_ok_and_an_unwired_port_is_no_fault) {
  IbCheck check = make();
  for (const CheckResult& result : check.run(input_at(0s))) {
    EXPECT_EQ(result.verdict, CheckVerdict::ok) << result.name << " " << result.subject;
  }
}

TEST_F(IbTest, no_adapter_is_unknown) {
  IbCheck check(IbCheckOptions{.sys_root = folder.path("none")});
  EXPECT_EQ(verdict_of(check.run(input_at(0s)), "ib_link"), "unknown");
}

TEST_F(IbTest, an_expected_port_that_never_was_there_fails) {
  IbCheck check = make({.expected_gigabits = {{"mlx5_1/1", 200}, {"mlx5_9/1", 200}}});
  check.run(input_at(0s));
  const std::vector<CheckResult> results = check.run(input_at(30s));
  EXPECT_EQ(verdict_of(results, "ib_link", "mlx5_1/1"), "fail evict");
  EXPECT_EQ(verdict_of(results, "ib_link", "mlx5_9/1"), "fail evict");
  EXPECT_EQ(verdict_of(results, "ib_link", "mlx5_0/1"), "ok");
}

TEST_F(IbTest, a_port_that_is_down_warns_and_at_thirty_seconds_fails) {
  IbCheck check = make();
  check.run(input_at(0s));
  go_down();
  EXPECT_EQ(verdict_of(check.run(input_at(5s)), "ib_link", "mlx5_0/1"), "warn");
  EXPECT_EQ(verdict_of(check.run(input_at(30s)), "ib_link", "mlx5_0/1"), "warn");
  EXPECT_EQ(verdict_of(check.run(input_at(35s)), "ib_link", "mlx5_0/1"), "fail evict");
  come_up();
  EXPECT_EQ(verdict_of(check.run(input_at(40s)), "ib_link", "mlx5_0/1"), "ok");
}

TEST_F(IbTest, an_adapter_that_is_gone_fails_and_may_come_back) {
  IbCheck check = make();
  check.run(input_at(0s));
  std::filesystem::rename(folder.path("sys/class/infiniband/mlx5_0"), folder.path("away"));
  check.run(input_at(5s));
  const CheckResult gone = result_of(check.run(input_at(40s)), "ib_link", "mlx5_0/1");
  EXPECT_EQ(verdict_of(gone), "fail evict");
  EXPECT_EQ(gone.summary,
            "port is not up (gone) since 35 s, limit 30 s; remedy: service: cable, port, adapter");
  std::filesystem::rename(folder.path("away"), folder.path("sys/class/infiniband/mlx5_0"));
  EXPECT_EQ(verdict_of(check.run(input_at(45s)), "ib_link", "mlx5_0/1"), "ok");
}

TEST_F(IbTest, a_lower_rate_than_it_had_or_should_have_fails) {
  IbCheck check = make();
  check.run(input_at(0s));
  set("rate", "100 Gb/sec (4X EDR)");
  const CheckResult slow = result_of(check.run(input_at(5s)), "ib_link", "mlx5_0/1");
  EXPECT_EQ(verdict_of(slow), "fail validate");
  EXPECT_EQ(slow.summary,
            "rate is 100 Gb/s, expected 200 Gb/s; remedy: service: cable, port, adapter");
  IbCheck other = make({.expected_gigabits = {{"mlx5_0/1", 200}}});
  EXPECT_EQ(verdict_of(other.run(input_at(0s)), "ib_link", "mlx5_0/1"), "fail validate");
}

TEST_F(IbTest, one_flash_cut_warns_three_in_three_hours_drain_and_heal) {
  IbCheck check = make();
  check.run(input_at(0s));
  set("counters/link_downed", "2");
  EXPECT_EQ(verdict_of(check.run(input_at(1h)), "ib_flaps", "mlx5_0/1"), "warn");
  set("counters/link_downed", "3");
  EXPECT_EQ(verdict_of(check.run(input_at(2h)), "ib_flaps", "mlx5_0/1"), "warn");
  set("counters/link_downed", "4");
  EXPECT_EQ(verdict_of(check.run(input_at(3h)), "ib_flaps", "mlx5_0/1"), "fail drain");
  EXPECT_EQ(verdict_of(check.run(input_at(4h + 1s)), "ib_flaps", "mlx5_0/1"), "warn");
  EXPECT_EQ(verdict_of(check.run(input_at(6h + 1s)), "ib_flaps", "mlx5_0/1"), "ok");
}

TEST_F(IbTest, each_flash_cut_has_its_time) {
  IbCheck check = make();
  check.run(input_at(0s));
  const auto flapped_at = [&](Duration at) {
    return result_of(check.run(input_at(at)), "ib_flaps", "mlx5_0/1").at - kWall;
  };
  set("counters/link_downed", "2");
  EXPECT_EQ(flapped_at(5s), 5s);
  EXPECT_EQ(flapped_at(10s), 5s);
  set("counters/link_downed", "3");
  EXPECT_EQ(flapped_at(15s), 15s);
  EXPECT_EQ(flapped_at(20s), 15s);
}

TEST_F(IbTest, a_counter_that_begins_anew_is_no_flap_storm) {
  set("counters/link_downed", "900");
  IbCheck check = make();
  check.run(input_at(0s));
  set("counters/link_downed", "1");
  EXPECT_EQ(verdict_of(check.run(input_at(5s)), "ib_flaps", "mlx5_0/1"), "warn");
}

TEST_F(IbTest, flaps_of_a_port_without_counters_are_seen_in_its_state) {
  std::filesystem::remove_all(folder.path("sys/class/infiniband/mlx5_0/ports/1/counters"));
  IbCheck check = make();
  Duration at{0};
  for (int i = 0; i < 3; ++i) {
    come_up();
    check.run(input_at(at += 5s));
    go_down();
    check.run(input_at(at += 5s));
  }
  come_up();
  EXPECT_EQ(verdict_of(check.run(input_at(at + 5s)), "ib_flaps", "mlx5_0/1"), "fail drain");
}

TEST_F(IbTest, many_recoveries_and_many_symbol_errors_warn) {
  IbCheck check = make();
  check.run(input_at(0s));
  set("counters/link_error_recovery", "4");
  set("counters/symbol_error", "203");
  const std::vector<CheckResult> results = check.run(input_at(1min));
  EXPECT_EQ(verdict_of(results, "ib_flaps", "mlx5_0/1"), "warn");
  EXPECT_EQ(verdict_of(results, "ib_errors", "mlx5_0/1"), "warn");
  set("counters/symbol_error", "323");
  EXPECT_EQ(verdict_of(check.run(input_at(2min)), "ib_errors", "mlx5_0/1"), "ok");
}

TEST_F(IbTest, silence_under_a_job_of_several_nodes_warns_after_ten_minutes) {
  IbCheck check = make();
  CheckInput input = input_at(0s);
  check.run(input);
  EXPECT_EQ(verdict_of(check.run(input_at(1h)), "ib_traffic"), "ok");
  const auto under_job = [&](Duration at) {
    CheckInput under = input_at(at);
    under.use.has_distributed_rank = true;
    return verdict_of(check.run(under), "ib_traffic");
  };
  EXPECT_EQ(under_job(1h), "ok");  // It has only begun.
  EXPECT_EQ(under_job(1h + 9min), "ok");
  EXPECT_EQ(under_job(1h + 10min), "warn");
  set("counters/port_rcv_data", "81234568");
  EXPECT_EQ(under_job(1h + 11min), "ok");
}

// What an agent leaves to the next one in the same boot, and to that of the next boot.
struct IbRestartTest : IbTest {
  std::unique_ptr<IbCheck> next(const IbCheck& check, IbCheckOptions options = {}) {
    options.sys_root = folder.path("sys");
    auto next = std::make_unique<IbCheck>(std::move(options));
    next->restore(check.memory());
    return next;
  }
  std::unique_ptr<IbCheck> after_reboot(const IbCheck& check) {
    auto next = std::make_unique<IbCheck>(IbCheckOptions{.sys_root = folder.path("sys")});
    next->restore({.lasting = check.memory().lasting, .of_boot = {}});
    return next;
  }
};

TEST_F(IbRestartTest, a_port_that_is_down_fails_in_the_next_agent_at_once) {
  IbCheck check = make();
  check.run(input_at(0s));
  go_down();
  check.run(input_at(5s));
  ASSERT_EQ(verdict_of(check.run(input_at(40s)), "ib_link", "mlx5_0/1"), "fail evict");
  const auto restarted = next(check);
  EXPECT_EQ(verdict_of(restarted->run(input_at(41s)), "ib_link", "mlx5_0/1"), "fail evict");
  come_up();
  EXPECT_EQ(verdict_of(restarted->run(input_at(46s)), "ib_link", "mlx5_0/1"), "ok");
}

TEST_F(IbRestartTest, a_port_has_time_to_come_up_with_its_machine_but_must) {
  IbCheck check = make();
  check.run(input_at(0s));
  go_down();
  check.run(input_at(5s));
  const auto booted = after_reboot(check);
  EXPECT_EQ(verdict_of(booted->run(input_at(41s)), "ib_link", "mlx5_0/1"), "warn");
  EXPECT_EQ(verdict_of(booted->run(input_at(71s)), "ib_link", "mlx5_0/1"), "fail evict");
}

TEST_F(IbRestartTest, an_adapter_that_is_gone_and_the_best_rate_are_remembered) {
  IbCheck check = make();
  check.run(input_at(0s));
  set("rate", "100 Gb/sec (4X EDR)");
  const auto slower = after_reboot(check);
  EXPECT_EQ(verdict_of(slower->run(input_at(5s)), "ib_link", "mlx5_0/1"), "fail validate");
  std::filesystem::remove_all(folder.path("sys/class/infiniband/mlx5_0"));
  const auto gone = after_reboot(check);
  gone->run(input_at(5s));
  EXPECT_EQ(verdict_of(gone->run(input_at(35s)), "ib_link", "mlx5_0/1"), "fail evict");
  const auto excluded = next(check, {.excluded = {"mlx5_0"}});
  excluded->run(input_at(5s));
  EXPECT_EQ(verdict_of(excluded->run(input_at(35s)), "ib_link", "mlx5_0/1"), "none");
}

TEST_F(IbRestartTest, flaps_count_on_and_those_while_no_agent_looked_count_too) {
  IbCheck check = make();
  check.run(input_at(0s));
  set("counters/link_downed", "3");
  const CheckResult before = result_of(check.run(input_at(5s)), "ib_flaps", "mlx5_0/1");
  const auto same = next(check);
  EXPECT_EQ(result_of(same->run(input_at(10s)), "ib_flaps", "mlx5_0/1"), before);
  set("counters/link_downed", "4");
  const auto missed = next(check);
  EXPECT_EQ(verdict_of(missed->run(input_at(10s)), "ib_flaps", "mlx5_0/1"), "fail drain");
  const auto booted = after_reboot(check);
  EXPECT_EQ(verdict_of(booted->run(input_at(10s)), "ib_flaps", "mlx5_0/1"), "ok");
}

TEST_F(IbRestartTest, an_expected_port_that_never_was_up_goes_on_failing) {
  const IbCheckOptions options{.expected_gigabits = {{"mlx5_1/1", 200}}};
  IbCheck check = make(options);
  check.run(input_at(0s));
  ASSERT_EQ(verdict_of(check.run(input_at(30s)), "ib_link", "mlx5_1/1"), "fail evict");
  const auto restarted = next(check, options);
  EXPECT_EQ(verdict_of(restarted->run(input_at(31s)), "ib_link", "mlx5_1/1"), "fail evict");
}

TEST_F(IbRestartTest, a_quiet_port_remembers_the_same_with_each_look) {
  IbCheck check = make();
  check.run(input_at(0s));
  const CheckMemory first = check.memory();
  set("counters/port_rcv_data", "99234567");
  set("counters/symbol_error", "5");
  check.run(input_at(5s));
  EXPECT_EQ(check.memory(), first) << "each change is a write to the disk";
}

TEST(CountedSince, survives_a_counter_that_begins_anew) {
  EXPECT_EQ(counted_since(5, 8), 3);
  EXPECT_EQ(counted_since(900, 2), 2);
}

}  // namespace
}  // namespace hai
