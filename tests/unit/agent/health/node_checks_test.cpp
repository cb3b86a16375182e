// All checks of a recorded node together, as the agent makes them.

#include "agent/health/node_checks.h"

#include <cstdlib>

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
  EXPECT_FALSE(has_failure(results)) << format_health_table(results);
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
  EXPECT_TRUE(has_failure(results));
  const std::string table = format_health_table(results);
  EXPECT_THAT(table, testing::HasSubstr("NAME "));
  EXPECT_THAT(table, testing::ContainsRegex("gpu_xid +gpu 0 xid 79 +fail +evict +Xid 79: GPU has"));
  EXPECT_THAT(table, testing::ContainsRegex("ib_link +mlx5_0/1 +fail +validate +rate is 200"));
  EXPECT_THAT(format_health_json(results), testing::HasSubstr("\"verdict\": \"fail\""));
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
