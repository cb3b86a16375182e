#include "agent/health/disk_check.h"

#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

std::string line(const std::string& disk, int64_t reads, int64_t in_flight) {
  return fmt::format("259 0 {} {} 0 0 0 0 0 0 0 {} 0 0 0 0 0 0 0 0\n", disk, reads, in_flight);
}

TEST(DiskCheck, takes_whole_disks_of_a_recorded_node) {
  DiskCheck check(DiskCheckOptions{.proc_root = kHealthData + "/node/proc"});
  const std::vector<CheckResult> results = check.run(input_at(0s));
  EXPECT_EQ(results.size(), 2u);
  EXPECT_EQ(verdict_of(results, "disk_stuck", "nvme0n1"), "ok");
  EXPECT_EQ(verdict_of(results, "disk_stuck", "nvme1n1"), "ok");
}

TEST(DiskCheck, a_disk_that_finishes_nothing_for_a_minute_fails_and_an_idle_one_does_not) {
  TempFolder folder;
  DiskCheck check(DiskCheckOptions{.proc_root = folder.path("")});
  const auto look = [&](Duration at, int64_t reads) {
    folder.write("diskstats", line("sda", reads, 2) + line("sdb", 5, 0));
    return check.run(input_at(at));
  };
  EXPECT_EQ(verdict_of(look(0s, 10), "disk_stuck", "sda"), "ok");
  EXPECT_EQ(verdict_of(look(59s, 10), "disk_stuck", "sda"), "ok");
  EXPECT_EQ(verdict_of(look(60s, 10), "disk_stuck", "sda"), "fail drain");
  EXPECT_EQ(verdict_of(look(90s, 10), "disk_stuck", "sdb"), "ok");
  EXPECT_EQ(verdict_of(look(120s, 11), "disk_stuck", "sda"), "ok");
}

TEST(DiskCheck, a_disk_that_is_stuck_is_so_for_the_next_agent) {
  TempFolder folder;
  DiskCheck check(DiskCheckOptions{.proc_root = folder.path("")});
  folder.write("diskstats", line("sda", 10, 2) + line("sdb", 5, 0));
  check.run(input_at(0s));
  EXPECT_TRUE(check.memory().of_boot.empty());
  check.run(input_at(60s));
  DiskCheck next(DiskCheckOptions{.proc_root = folder.path("")});
  next.restore(check.memory());
  EXPECT_EQ(verdict_of(next.run(input_at(61s)), "disk_stuck", "sda"), "fail drain");
  folder.write("diskstats", line("sda", 11, 2));
  EXPECT_EQ(verdict_of(next.run(input_at(76s)), "disk_stuck", "sda"), "ok");
}

TEST(DiskCheck, a_disk_that_was_given_nothing_more_is_not_stuck) {
  TempFolder folder;
  DiskCheck check(DiskCheckOptions{.proc_root = folder.path("")});
  folder.write("diskstats", line("sda", 10, 2));
  check.run(input_at(0s));
  folder.write("diskstats", line("sda", 10, 0));
  EXPECT_EQ(verdict_of(check.run(input_at(90s)), "disk_stuck", "sda"), "ok");
}

TEST(DiskCheck, a_disk_that_is_named_and_gone_fails) {
  DiskCheck check(
      DiskCheckOptions{.proc_root = kHealthData + "/node/proc", .disks = {"nvme0n1", "nvme7n1"}});
  const std::vector<CheckResult> results = check.run(input_at(0s));
  EXPECT_EQ(verdict_of(results, "disk_stuck", "nvme0n1"), "ok");
  EXPECT_EQ(verdict_of(results, "disk_stuck", "nvme7n1"), "fail drain");
}

TEST(ParseDiskstats, passes_over_torn_lines) {
  EXPECT_TRUE(parse_diskstats("259 0 sda 1 2\n\n1\n259 0 sdb x\n").empty());
}

}  // namespace
}  // namespace hai
