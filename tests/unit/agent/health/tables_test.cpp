#include "agent/health/built_in_tables.h"
#include "agent/health/kernel_table.h"
#include "agent/health/xid_table.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

HealthTier tier_of(int64_t code, bool has_nvswitch = false) {
  static const XidTable table = XidTable::built_in();
  return table.rule_of({.kind = XidKind::xid, .bus_id = "", .code = code}, has_nvswitch).tier;
}

TEST(XidTable, built_in_follows_the_reference) {
  for (const int64_t code : {8, 13, 31, 43, 68, 69, 83, 99, 139})
    EXPECT_EQ(tier_of(code), HealthTier::app) << code;
  for (const int64_t code : {45, 66, 93, 154}) EXPECT_EQ(tier_of(code), HealthTier::log) << code;
  for (const int64_t code : {63, 92, 94, 121, 156})
    EXPECT_EQ(tier_of(code), HealthTier::drain) << code;
  for (const int64_t code : {48, 64, 79, 95, 119, 120, 140, 158})
    EXPECT_EQ(tier_of(code), HealthTier::evict) << code;
  EXPECT_EQ(tier_of(12'345), HealthTier::validate);
  EXPECT_EQ(tier_of(74), HealthTier::validate);
  EXPECT_EQ(tier_of(74, true), HealthTier::evict);
  EXPECT_EQ(tier_of(79, true), HealthTier::evict);
}

TEST(XidTable, an_sxid_without_a_row_is_worth_what_the_driver_says_of_it) {
  const XidTable table = XidTable::built_in();
  XidLine line{.kind = XidKind::sxid, .bus_id = "", .code = 20034};
  EXPECT_EQ(table.rule_of(line, true).tier, HealthTier::validate);
  line.severity = XidSeverity::fatal;
  EXPECT_EQ(table.rule_of(line, true).tier, HealthTier::evict);
  line.severity = XidSeverity::nonfatal;
  EXPECT_EQ(table.rule_of(line, true).tier, HealthTier::log);
}

TEST(XidTable, errors_name_the_line) {
  const std::string header = "kind,code,tier,follows,repeats,remedy,meaning\n";
  const std::string rest = "xid,*,log,no,,none,x\nsxid,*,log,no,,none,x\n";
  EXPECT_TRUE(XidTable::parse(header + rest).is_ok());
  const std::pair<std::string, std::string> cases[] = {
      {"xid,79,deadly,no,,none,x\n", "line 2: no tier deadly"},
      {"xid,79\n", "line 2: 2 fields, must be 7"},
      {"gpu,79,log,no,,none,x\n", "line 2: no kind gpu"},
      {"xid,seven,log,no,,none,x\n", "line 2: no code seven"},
      {"xid,1,log,no,often,none,x\n", "line 2: repeats must be COUNT/DURATION:TIER, is often"},
      {"xid,1,log,no,,none,x\nxid,1,log,no,,none,x\n", "line 3: xid 1 is there twice"},
  };
  for (const auto& [rows, error] : cases) {
    EXPECT_EQ(XidTable::parse(header + rows + rest).status().message(), error);
  }
  EXPECT_EQ(XidTable::parse(header).status().message(), "no row for xid *");
}

// A program can repeat its own fault as often as it likes.
TEST(XidTable, no_number_of_a_programs_own_faults_is_worth_more) {
  const XidTable table = XidTable::built_in();
  for (int64_t code = 1; code <= 200; ++code) {
    const FaultRule& rule = table.rule_of({.kind = XidKind::xid, .bus_id = "", .code = code}, true);
    EXPECT_FALSE(rule.tier == HealthTier::app && rule.repeats) << code;
  }
}

TEST(KernelTable, finds_check_subject_and_tier) {
  const KernelTable table = KernelTable::built_in();
  const auto seen = [&](const char* line) -> std::string {
    const auto match = table.match(line);
    if (!match) return "none";
    return fmt::format("{} {} {}", match->check, match->subject, to_string(match->rule->tier));
  };
  EXPECT_EQ(seen("blk_update_request: I/O error, dev sda, sector 1 op 0x0"),
            "disk_error sda drain");
  EXPECT_EQ(seen("Buffer I/O error on dev dm-3, logical block 1"), "disk_error dm-3 drain");
  EXPECT_EQ(seen("nvme nvme4: I/O 12 QID 3 timeout, reset controller"),
            "disk_error nvme4 validate");
  EXPECT_EQ(seen("nvme nvme4: Disabling device after reset failure: -19"),
            "disk_error nvme4 drain");
  EXPECT_EQ(seen("EXT4-fs (sda1): Remounting filesystem read-only"), "filesystem_error sda1 drain");
  EXPECT_EQ(seen("EXT4-fs error (device sda1): ext4_find_entry:1455"),
            "filesystem_error sda1 drain");
  EXPECT_EQ(seen("watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [x:1]"),
            "kernel_lockup  validate");
  EXPECT_EQ(seen("INFO: task kworker/1:2:77 blocked for more than 120 seconds."),
            "kernel_hung_task  log");
  EXPECT_EQ(seen("Memory cgroup out of memory: Killed process 7 (python) x"), "oom_kill  app");
  EXPECT_EQ(seen("{1}[Hardware Error]: event severity: fatal"), "machine_check  evict");
  EXPECT_EQ(seen("BUG: unable to handle kernel NULL pointer dereference at 0"),
            "kernel_bug  drain");
  EXPECT_EQ(seen("EDAC MC0: 1 UE memory read error on CPU_SrcID#0"), "machine_check  drain");
  EXPECT_EQ(seen("Kernel panic - not syncing: Fatal exception"), "kernel_bug  evict");
  EXPECT_EQ(seen("usb 1-1: new high-speed USB device"), "none");
}

TEST(KernelTable, open_files_that_programs_have_used_up_are_no_bug_of_the_kernel) {
  const KernelTable table = KernelTable::built_in();
  const auto match = table.match("VFS: file-max limit 1048576 reached");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->check, "file_handles");
  EXPECT_EQ(match->rule->tier, HealthTier::app);
}

// Naming a process "Kernel panic" and letting it crash would otherwise end every job of the node.
TEST(KernelTable, users_cannot_make_a_node_look_broken) {
  const KernelTable table = KernelTable::built_in();
  for (const char* line : {
           "Kernel panic[4711]: segfault at 0 ip 00007f sp 00007ffd error 4 in x[7f+1000]",
           "kernel BUG at [4711]: segfault at 0 ip 00007f sp 00007ffd error 4 in a!",
           "x[4711]: segfault at 0 ip 0 sp 0 error 4 in attempt to access beyond end of device",
           "I/O error dev a[1]: segfault at 0 ip 0 sp 0 error 4 in x sector 1[7f+1000]",
           "traps: Kernel panic[4711] general protection fault ip:7f sp:7ff error:0 in x",
           "process '/tmp/BUG: soft lockup - CPU#1 stuck for' started with executable stack",
           "CPU: 3 PID: 4711 Comm: Kernel panic Not tainted 5.15.0",
       }) {
    EXPECT_FALSE(table.match(line)) << line;
  }
}

}  // namespace
}  // namespace hai
