// All checks of a recorded node together, as the agent makes them.

#include "agent/health/node_checks.h"

#include <cstdlib>
#include <set>

#include "agent/health/health_monitor.h"
#include "agent/health/health_report.h"
#include "common/asio_loop.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

NodeChecksOptions recorded_node(const TempFolder& folder) {
  folder.write("gpus", "count 2\ngpu * nvlinks 4\n");
  folder.write("kmsg", "6,1,1,-;usb 1-1: new high-speed USB device\n");
  ::setenv("HAI_STUB_NVML", folder.path("gpus").c_str(), 1);
  NodeChecksOptions options;
  options.config.sys_root = kHealthData + "/node/sys";
  options.config.proc_root = kHealthData + "/node/proc";
  options.config.kmsg = folder.path("kmsg");
  options.config.nvml_library = HAI_STUB_NVML_LIBRARY;
  options.config.file_systems = {"/proc"};
  options.config.limits.disk_free_megabytes = 0;
  options.config.limits.disk_free_percent = 0;
  options.config.limits.disk_free_inodes_percent = 0;
  return options;
}

std::vector<CheckResult> run_once(const NodeChecksOptions& options) {
  AsioLoop loop;
  HealthMonitor monitor(loop, make_node_checks(options).value());
  monitor.run_once([&] { loop.stop(); });
  loop.run();
  return monitor.results();
}

TEST(NodeChecks, a_healthy_node_fails_nothing) {
  TempFolder folder;
  const std::vector<CheckResult> results = run_once(recorded_node(folder));
  EXPECT_TRUE(is_fit(results)) << format_health_table(results);
  EXPECT_EQ(verdict_of(results, "gpu_count"), "ok");
  EXPECT_EQ(verdict_of(results, "ib_link", "mlx5_0/1"), "ok");
  EXPECT_EQ(verdict_of(results, "kernel_log"), "ok");
}

TEST(NodeChecks, a_sick_one_says_what_fails) {
  TempFolder folder;
  NodeChecksOptions options = recorded_node(folder);
  options.config.kmsg = kHealthData + "/kmsg";
  options.config.infiniband = {{"mlx5_0/1", 400}};
  const std::vector<CheckResult> results = run_once(options);
  EXPECT_FALSE(is_fit(results));
  const std::string table = format_health_table(results);
  EXPECT_THAT(table, testing::HasSubstr("CHECK "));
  EXPECT_THAT(table, testing::ContainsRegex("gpu_xid +gpu 0 xid 79 +fail +evict +Xid 79: GPU has"));
  EXPECT_THAT(table, testing::ContainsRegex("ib_link +mlx5_0/1 +fail +validate +rate is 200"));
  EXPECT_THAT(format_health_json(results), testing::HasSubstr("\"state\": \"fail\""));
}

// Everything that can be wrong at once, here and on a node that has nothing.
TEST(NodeChecks, whatever_is_not_well_says_what_to_do) {
  TempFolder folder;
  NodeChecksOptions sick = recorded_node(folder);
  folder.write("gpus",
               "count 2\ngpu * nvlinks 4\ngpu 0 nvlink_1_state 0\ngpu 1 result 15\n"
               "gpu 0 recovery 3\ngpu 0 remapped_uncorrected 900\ngpu 0 ecc 0\n"
               "gpu 0 temperature 97\ngpu 0 pcie_width 8\ngpu 0 pid 4711\n");
  sick.config.kmsg = kHealthData + "/kmsg";
  sick.config.infiniband = {{"mlx5_0/1", 400}, {"mlx5_9/1", 400}};
  sick.config.mounts = {"/absent"};
  sick.config.disks = {"nvme7n1"};
  sick.config.cpus = 1'000;
  sick.config.memory_bytes = int64_t{1} << 60;
  sick.config.clock_source = "sundial";
  sick.config.limits.disk_free_percent = 100;
  folder.write("manifest", "nvidia_driver: 1.2.3\nagent: 9\nother: 7\n");
  sick.config.manifest = folder.path("manifest");
  NodeChecksOptions bare = recorded_node(folder);
  bare.config.sys_root = bare.config.proc_root = folder.path("none");
  bare.config.kmsg = folder.path("no_kmsg");
  bare.config.nvml_library = "libnone-such.so.1";
  std::set<std::string> not_well;
  for (const NodeChecksOptions& options : {sick, bare}) {
    for (const CheckResult& result : run_once(options)) {
      if (result.verdict == CheckVerdict::ok) continue;
      not_well.insert(result.name);
      EXPECT_THAT(result.summary, testing::ContainsRegex(".; remedy: .+"))
          << result.name << " " << result.subject;
    }
  }
  EXPECT_GT(not_well.size(), 20u) << "it is about all kinds of them";
}

TEST(NodeChecks, what_a_program_did_to_itself_leaves_the_node_fit) {
  TempFolder folder;
  NodeChecksOptions options = recorded_node(folder);
  folder.write("kmsg",
               "NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception\n"
               "NVRM: Xid (PCI:0000:3b:00): 31, MMU Fault\n"
               "Memory cgroup out of memory: Killed process 1 (python)\n");
  const std::vector<CheckResult> results = run_once(options);
  EXPECT_EQ(verdict_of(results, "gpu_xid", "gpu 0 xid 13"), "fail app");
  EXPECT_EQ(verdict_of(results, "oom_kill"), "fail app");
  EXPECT_TRUE(is_fit(results));
  EXPECT_THAT(format_fitness(results), testing::StartsWith("fit for jobs"));
}

TEST(NodeChecks, who_looks_once_sees_an_expected_port_that_is_down) {
  TempFolder folder;
  NodeChecksOptions options = recorded_node(folder);
  options.config.infiniband = {{"mlx5_1/1", 200}};
  EXPECT_EQ(verdict_of(run_once(options), "ib_link", "mlx5_1/1"), "warn") << "an agent waits";
  options.is_agent = false;
  const std::vector<CheckResult> results = run_once(options);
  EXPECT_EQ(verdict_of(results, "ib_link", "mlx5_1/1"), "fail evict");
  EXPECT_EQ(format_fitness(results), "not fit for jobs: ib_link of mlx5_1/1");
}

TEST(NodeChecks, simulated_gpus_are_not_looked_for_without_a_library_of_theirs) {
  TempFolder folder;
  NodeChecksOptions options = recorded_node(folder);
  options.simulated_gpus = 2;
  EXPECT_EQ(verdict_of(run_once(options), "gpu_count"), "ok");
  options.config.nvml_library.clear();
  EXPECT_EQ(verdict_of(run_once(options), "gpu_count"), "none");
}

TEST(NodeChecks, a_table_of_the_site_replaces_the_one_built_in) {
  TempFolder folder;
  NodeChecksOptions options = recorded_node(folder);
  folder.write("kmsg", "4,2,2,-;NVRM: Xid (PCI:0000:3b:00): 79, x\n");
  folder.write("xid.csv",
               "kind,code,tier,follows,repeats,remedy,meaning\n"
               "xid,*,log,no,,none,site says so\nsxid,*,log,no,,none,x\n");
  options.config.xid_table = folder.path("xid.csv");
  EXPECT_NE(verdict_of(run_once(options), "gpu_xid", "gpu 0 xid 79"), "fail evict");
  folder.write("xid.csv", "kind,code\nxid\n");
  EXPECT_EQ(make_node_checks(options).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace hai
