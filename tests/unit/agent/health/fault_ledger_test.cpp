#include "agent/health/fault_ledger.h"

#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

FaultEvent xid(int64_t code, Duration at, FaultRule rule) {
  return {.about = {"gpu_xid", fmt::format("gpu 0 xid {}", code), {1}},
          .what = fmt::format("Xid {}", code),
          .group = "gpu 0",
          .rule = std::move(rule),
          .line = fmt::format("line at {}", at.count()),
          .at = kWall + at};
}

const FaultRule kEvict{.tier = HealthTier::evict, .remedy = "reboot", .meaning = "off the bus"};
const FaultRule kApp{.tier = HealthTier::app, .remedy = "none", .meaning = "page fault"};

TEST(FaultLedger, the_same_within_five_seconds_is_the_same) {
  FaultLedger ledger;
  ledger.add(xid(79, 0s, kEvict));
  ledger.add(xid(79, 4'900ms, kEvict));
  const CheckResult once = result_of(ledger.results(kWall + 5s), "gpu_xid", "gpu 0 xid 79");
  EXPECT_EQ(once.summary, "Xid 79: off the bus; remedy: reboot");
  EXPECT_EQ(once.evidence, "line at 0\nline at 4900000\n");
  EXPECT_EQ(once.at, kWall);
  EXPECT_EQ(once.gpus, GpuSet{1});
  ledger.add(xid(79, 5s, kEvict));
  const CheckResult twice = result_of(ledger.results(kWall + 5s), "gpu_xid", "gpu 0 xid 79");
  EXPECT_EQ(twice.summary, "Xid 79: off the bus, 2 times; remedy: reboot");
  EXPECT_EQ(twice.at, kWall + 5s);
}

// The server validates a node for what the kernel said once, and reboots it for what is so now.
TEST(FaultLedger, what_a_sites_own_rule_finds_is_latched_too) {
  FaultLedger ledger;
  FaultEvent event = xid(79, 0s, kEvict);
  event.about.name = "site_fan_alarm";
  ledger.add(event);
  EXPECT_FALSE(check_kind_of("site_fan_alarm").is_latched);
  EXPECT_TRUE(ledger.results(kWall).at(0).kind().is_latched);
}

TEST(FaultLedger, what_is_fatal_stands_and_what_is_not_fades) {
  FaultLedger ledger;
  ledger.add(xid(79, 0s, kEvict));
  ledger.add(xid(31, 0s, kApp));
  EXPECT_EQ(verdict_of(ledger.results(kWall + 15min), "gpu_xid", "gpu 0 xid 31"), "fail app");
  EXPECT_EQ(verdict_of(ledger.results(kWall + 15min + 1s), "gpu_xid", "gpu 0 xid 31"), "none");
  EXPECT_EQ(verdict_of(ledger.results(kWall + 24h * 300), "gpu_xid", "gpu 0 xid 79"), "fail evict");
}

TEST(FaultLedger, clearing_forgets_up_to_its_time_only) {
  FaultLedger ledger;
  ledger.add(xid(79, 0s, kEvict));
  ledger.add(xid(79, 10s, kEvict));
  ledger.clear({"gpu_xid", "gpu 0 xid 79", kWall + 9s});
  EXPECT_EQ(ledger.results(kWall + 20s).size(), 1u);
  ledger.clear({"gpu_xid", "gpu 0 xid 79", kWall + 10s});
  EXPECT_EQ(ledger.results(kWall + 20s).size(), 0u);
  ledger.add(xid(79, 10s, kEvict));  // The log is read again from its beginning.
  EXPECT_EQ(ledger.results(kWall + 20s).size(), 0u);
  ledger.add(xid(79, 11s, kEvict));
  EXPECT_EQ(ledger.results(kWall + 20s).size(), 1u);
}

TEST(FaultLedger, a_follower_is_news_only_when_it_comes_alone) {
  FaultRule follows{
      .tier = HealthTier::log, .remedy = "none", .meaning = "cleanup", .follows = true};
  FaultLedger ledger;
  ledger.add(xid(31, 0s, kApp));
  ledger.add(xid(45, 4s, follows));
  EXPECT_EQ(ledger.results(kWall + 5s).size(), 1u);
  ledger.add(xid(45, 60s, follows));
  EXPECT_EQ(verdict_of(ledger.results(kWall + 61s), "gpu_xid", "gpu 0 xid 45"), "warn");
}

TEST(FaultLedger, a_bridge_is_scored_and_drained_only_when_it_repeats) {
  FaultRule bridge{.tier = HealthTier::validate, .remedy = "validate", .meaning = "NVLink error"};
  bridge.repeats = RepeatRule{.count = 2, .within = 24h * 7, .tier = HealthTier::drain};
  FaultLedger ledger;
  ledger.add(xid(74, 0s, bridge));
  ledger.add(xid(74, 24h * 8, bridge));
  EXPECT_EQ(verdict_of(ledger.results(kWall + 24h * 8), "gpu_xid", "gpu 0 xid 74"),
            "fail validate");
  ledger.add(xid(74, 24h * 9, bridge));
  EXPECT_EQ(verdict_of(ledger.results(kWall + 24h * 9), "gpu_xid", "gpu 0 xid 74"), "fail drain");
}

TEST(FaultLedger, remembers_what_no_longer_shows_if_it_counts_when_it_repeats) {
  FaultRule rule = kApp;
  rule.repeats = RepeatRule{.count = 2, .within = 24h * 7, .tier = HealthTier::drain};
  FaultLedger ledger;
  ledger.add(xid(69, 0s, rule));
  EXPECT_TRUE(ledger.results(kWall + 1h).empty());
  ledger.add(xid(69, 2h, rule));
  EXPECT_EQ(verdict_of(ledger.results(kWall + 2h), "gpu_xid", "gpu 0 xid 69"), "fail drain");
}

TEST(FaultLedger, is_bounded) {
  FaultLedger ledger;
  for (int64_t i = 0; i < 10'000; ++i) ledger.add(xid(i, 0s, kEvict));
  for (int i = 0; i < 10'000; ++i) ledger.add(xid(1, i * 10s, kEvict));
  for (int i = 0; i < 1'000; ++i) ledger.clear({"x", fmt::format("{}", i), kWall});
  EXPECT_EQ(ledger.faults().size(), FaultLedger::kFaultsMax);
  EXPECT_EQ(ledger.left_out(), 10'000 - static_cast<int64_t>(FaultLedger::kFaultsMax));
  EXPECT_EQ(ledger.cleared().size(), FaultLedger::kFaultsMax);
  const StandingFault& fault = ledger.faults().at({"gpu_xid", "gpu 0 xid 1"});
  EXPECT_EQ(fault.times.size(), FaultLedger::kTimesMax);
  EXPECT_EQ(fault.lines.size(), FaultLedger::kLinesMax);
  EXPECT_EQ(fault.lines.front(), "line at 0");
}

}  // namespace
}  // namespace hai
