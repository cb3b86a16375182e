// The kernel's log as it was recorded, through the check that reads it in production.

#include "agent/health/kernel_check.h"

#include "agent/health/fault_file.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

KernelCheckOptions options_for(const std::string& kmsg) {
  KernelCheckOptions options;
  options.kmsg = kmsg;
  options.proc_root = kHealthData + "/node/proc";
  options.boot_id = "boot-1";
  return options;
}

// The records are of the machine's second hour.
CheckInput at_hour(int hours) {
  CheckInput input = input_at(0s);
  input.now = MonoTime(hours * 1h);
  return input;
}

TEST(KernelCheck, finds_every_fault_of_a_recorded_log) {
  KernelCheck check(options_for(kHealthData + "/kmsg"));
  const std::vector<CheckResult> results = check.run(at_hour(1));
  EXPECT_EQ(verdict_of(results, "kernel_log"), "ok");
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 0 xid 79"), "fail evict");
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 0 xid 45"), "none");  // It followed 79.
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 1 xid 13"), "fail app");
  EXPECT_EQ(verdict_of(results, "gpu_xid", "PCI:0000:af:00 xid 31"), "fail app");
  EXPECT_EQ(verdict_of(results, "nvswitch_sxid", "PCI:0000:c1:00.0 sxid 28006"), "warn");
  EXPECT_EQ(verdict_of(results, "nvswitch_sxid", "PCI:0000:c1:00.0 sxid 20034"), "fail evict");
  EXPECT_EQ(verdict_of(results, "disk_error", "nvme1n1"), "fail drain");
  EXPECT_EQ(verdict_of(results, "filesystem_error", "nvme0n1p1"), "fail drain");
  EXPECT_EQ(verdict_of(results, "kernel_lockup"), "fail validate");
  EXPECT_EQ(verdict_of(results, "kernel_hung_task"), "warn");
  EXPECT_EQ(verdict_of(results, "oom_kill"), "fail app");
  EXPECT_EQ(verdict_of(results, "machine_check"), "warn");
  EXPECT_EQ(verdict_of(results, "mount_lines", "storage-1"), "warn");
  EXPECT_EQ(verdict_of(results, "ib_adapter", "0000:5e:00.0"), "fail validate");
  EXPECT_EQ(verdict_of(results, "kernel_bug"), "ok");
  EXPECT_EQ(result_of(results, "gpu_xid", "gpu 0 xid 79").gpus, GpuSet{1});
}

TEST(KernelCheck, knows_when_it_happened) {
  KernelCheck check(options_for(kHealthData + "/kmsg"));
  const CheckInput input = at_hour(2);
  const UnixTime boot = input.wall_now - 2h;
  EXPECT_EQ(result_of(check.run(input), "gpu_xid", "gpu 0 xid 79").at, boot + 3'600'000'010us);
}

TEST(KernelCheck, reads_what_dmesg_prints) {
  KernelCheck check(options_for(kHealthData + "/dmesg"));
  const std::vector<CheckResult> results = check.run(at_hour(1));
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 0 xid 63"), "fail drain");
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 0 xid 94"), "fail drain");
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 1 xid 74"), "fail validate");
}

TEST(KernelCheck, says_so_when_there_is_nothing_or_the_log_is_not_there) {
  TempFolder folder;
  KernelCheck check(options_for(folder.path("kmsg")));
  EXPECT_EQ(verdict_of(check.run(at_hour(1)), "kernel_log"), "unknown");
  EXPECT_EQ(verdict_of(check.run(at_hour(1)), "gpu_xid"), "unknown");
  folder.write("kmsg", "");
  EXPECT_EQ(verdict_of(check.run(at_hour(1)), "gpu_xid"), "ok");
  EXPECT_EQ(verdict_of(check.run(at_hour(1)), "nvswitch_sxid"), "unknown");  // It has none.
}

TEST(KernelCheck, a_successor_knows_what_stands_and_what_was_cleared) {
  TempFolder folder;
  folder.write("kmsg",
               "4,7,1000,-;NVRM: Xid (PCI:0000:3b:00): 79, x\n"
               "4,8,1000,-;NVRM: Xid (PCI:0000:86:00): 95, x\n");
  KernelCheckOptions options = options_for(folder.path("kmsg"));
  options.fault_file = folder.path("faults.json");
  KernelCheck first(options);
  CheckInput input = at_hour(1);
  first.run(input);
  input.cleared = {{"gpu_xid", "gpu 1 xid 95", input.wall_now}};
  EXPECT_EQ(verdict_of(first.run(input), "gpu_xid", "gpu 1 xid 95"), "none");

  input.cleared.clear();
  input.wall_now += 1min;       // The clock was set: the same line seems to be of another time.
  KernelCheck second(options);  // Reads the same lines again, and they do not count twice.
  const std::vector<CheckResult> results = second.run(input);
  EXPECT_EQ(result_of(results, "gpu_xid", "gpu 0 xid 79").summary,
            "Xid 79: GPU has fallen off the bus; remedy: reboot; service if it comes back");
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 1 xid 95"), "none");

  options.boot_id = "boot-2";  // The machine has restarted: what its log says now counts.
  KernelCheck third(options);
  EXPECT_EQ(verdict_of(third.run(input), "gpu_xid", "gpu 1 xid 95"), "fail evict");
}

// As `echo "<4>NVRM: Xid …" > /dev/kmsg` makes them: the kernel gives them facility 1 at least.
TEST(KernelCheck, believes_no_program_that_writes_to_the_log) {
  TempFolder folder;
  folder.write("kmsg",
               "12,7,1000,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1, x\n"
               "11,8,1000,-;EXT4-fs (sda1): Remounting filesystem read-only\n"
               "4,9,1000,-;NVRM: Xid (PCI:0000:86:00): 95, x\n"
               "12,10,1000,-;NVRM: Xid (PCI:0000:86:00): 48, x\n");
  KernelCheck check(options_for(folder.path("kmsg")));
  const std::vector<CheckResult> results = check.run(at_hour(1));
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 0 xid 79"), "none");
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 1 xid 48"), "none");
  EXPECT_EQ(verdict_of(results, "filesystem_error"), "ok");
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 1 xid 95"), "fail evict");
}

TEST(KernelCheck, faults_of_an_older_agents_file_and_of_a_newer_ones_count) {
  TempFolder folder;
  folder.write("kmsg", "");
  folder.write("faults.json",
               R"({"boot_id": "boot-1", "colour": "red", "faults": [
                   {"name": "gpu_xid", "subject": "gpu 0 xid 79", "tier": "evict", "shade": 3},
                   {"name": "machine_check"}, {"subject": "no name"}]})");
  KernelCheckOptions options = options_for(folder.path("kmsg"));
  options.fault_file = folder.path("faults.json");
  KernelCheck check(options);
  const std::vector<CheckResult> results = check.run(at_hour(1));
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 0 xid 79"), "fail evict");
  EXPECT_EQ(verdict_of(results, "machine_check"), "fail validate");
  EXPECT_EQ(verdict_of(results, "kernel_log"), "warn");
  EXPECT_TRUE(read_fault_file(folder.path("faults.json")).value().damage.empty()) << "replaced";
}

TEST(KernelCheck, a_damaged_file_of_its_predecessor_is_reported_and_replaced) {
  TempFolder folder;
  folder.write("kmsg", "4,7,1000,-;NVRM: Xid (PCI:0000:3b:00): 79, x\n");
  for (const char* text : {"", "{", "[1,2]", R"({"boot_id": "boot-1"})",
                           R"({"boot_id": 7, "last_sequence": "x", "faults": 1, "cleared": {}})"}) {
    folder.write("faults.json", text);
    KernelCheckOptions options = options_for(folder.path("kmsg"));
    options.fault_file = folder.path("faults.json");
    KernelCheck check(options);
    const std::vector<CheckResult> results = check.run(at_hour(1));
    EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 0 xid 79"), "fail evict") << text;
    // Not every field has to be there.
    const bool is_readable = std::string(text) == R"({"boot_id": "boot-1"})";
    EXPECT_EQ(verdict_of(results, "kernel_log"), is_readable ? "ok" : "warn") << text;
    EXPECT_TRUE(read_fault_file(folder.path("faults.json")).is_ok()) << text;
  }
}

TEST(FaultFile, keeps_everything) {
  TempFolder folder;
  KeptFaults kept{.boot_id = "b", .last_sequence = 12, .faults = {}, .cleared = {}, .damage = {}};
  FaultEvent event{.about = {"gpu_xid", "gpu 3 xid 74", {8}},
                   .what = "Xid 74",
                   .group = "gpu 3",
                   .rule = {.tier = HealthTier::validate, .remedy = "r", .meaning = "m"},
                   .line = "line",
                   .at = kWall};
  event.rule.repeats = RepeatRule{.count = 2, .within = 1h, .tier = HealthTier::drain};
  kept.faults[{"gpu_xid", "gpu 3 xid 74"}] = {
      .event = event, .count = 2, .times = {kWall - 1s, kWall}, .lines = {"line", "line"}};
  kept.cleared[{"a", "b"}] = kWall;
  ASSERT_TRUE(write_fault_file(folder.path("f"), kept).is_ok());
  const Result<KeptFaults> read = read_fault_file(folder.path("f"));
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(read.value().last_sequence, 12);
  EXPECT_EQ(read.value().cleared, kept.cleared);
  const StandingFault& fault = read.value().faults.at({"gpu_xid", "gpu 3 xid 74"});
  EXPECT_EQ(fault.event.rule, event.rule);
  EXPECT_EQ(fault.times, (std::vector<UnixTime>{kWall - 1s, kWall}));
  EXPECT_EQ(fault.event.about.gpus, GpuSet{8});
}

}  // namespace
}  // namespace hai
