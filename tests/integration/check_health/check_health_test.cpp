// `hai-agent --check-health` as a person runs it: the real program on a recorded node, and on this
// machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace hai {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;
};

struct CheckHealthTest : testing::Test {
  CheckHealthTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "hai-check-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    write("gpus", "count 2\n");
    write("kmsg", "6,1,1,-;usb 1-1: new high-speed USB device\n");
    // Room on the disk of the machine that runs the test is not what is tested.
    write("agent.yaml", "data_dir: " + folder +
                            "\nservers: [127.0.0.1:1]\ntoken_file: /none\n"
                            "health:\n  file_systems: [/proc]\n"
                            "  limits: {disk_free_megabytes: 0, disk_free_percent: 0}\n");
    ::setenv("HAI_STUB_NVML", (folder + "/gpus").c_str(), 1);
  }
  ~CheckHealthTest() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
  }
  static Outcome run(const std::string& arguments) {
    Outcome outcome;
    FILE* pipe = ::popen((HAI_AGENT_PATH " --check-health " + arguments + " 2>&1").c_str(), "r");
    char buffer[4'096];
    while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
      outcome.output.append(buffer, got);
    outcome.exit_code = WEXITSTATUS(::pclose(pipe));
    return outcome;
  }
  Outcome run_recorded(const std::string& arguments = "") const {
    return run("--config " + folder +
               "/agent.yaml --sys-root " HAI_HEALTH_DATA "/node/sys --proc-root " HAI_HEALTH_DATA
               "/node/proc --nvml-library " HAI_STUB_NVML_LIBRARY " --kmsg " +
               folder + "/kmsg " + arguments);
  }
  std::string folder;
};

TEST_F(CheckHealthTest, a_healthy_node_exits_with_0) {
  const Outcome outcome = run_recorded();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, testing::ContainsRegex("gpu_state +gpu 1 +ok"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("ib_link +mlx5_0/1 +ok"));
  EXPECT_THAT(outcome.output, testing::HasSubstr("\nfit for jobs: "));
}

TEST_F(CheckHealthTest, what_programs_did_to_themselves_leaves_a_node_fit) {
  write("kmsg",
        "NVRM: Xid (PCI:0000:86:00): 13, Graphics Exception\n"
        "NVRM: Xid (PCI:0000:86:00): 31, MMU Fault\n"
        "Out of memory: Killed process 4711 (python)\n");
  const Outcome outcome = run_recorded();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, testing::ContainsRegex("gpu 1 xid 13 +fail +app"));
}

TEST_F(CheckHealthTest, an_expected_port_that_is_down_makes_it_unfit) {
  write("agent.yaml", "data_dir: " + folder +
                          "\nservers: [127.0.0.1:1]\ntoken_file: /none\n"
                          "health:\n  expect: {infiniband: {mlx5_1/1: 200}}\n"
                          "  file_systems: [/proc]\n"
                          "  limits: {disk_free_megabytes: 0, disk_free_percent: 0}\n");
  const Outcome outcome = run_recorded();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, testing::HasSubstr("not fit for jobs: ib_link of mlx5_1/1\n"));
}

TEST_F(CheckHealthTest, knows_what_the_agent_has_seen_before) {
  write("gpus",
        "count 2\ngpu * nvlinks 2\ngpu 1 nvlink_1_state 0\ngpu 0 nvlink_0_state 0\n"
        "gpu 0 nvlink_1_state 0\n");
  write(
      "health.json",
      R"({"boot_id": "another", "checks": {"gpu": {"lasting": {"gpu 0": {"nvlinks": [0, 1]}}}}})");
  const Outcome outcome = run_recorded();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, testing::HasSubstr("not fit for jobs: gpu_nvlink of gpu 0\n"));
}

TEST_F(CheckHealthTest, help_says_what_the_exit_code_means) {
  const Outcome outcome = run("--help");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output,
              testing::ContainsRegex("exit: 0[ \n]+if it is[ \n]+fit for[ \n]+jobs"));
}

TEST_F(CheckHealthTest, a_lost_gpu_exits_with_1_and_is_named) {
  write("gpus", "count 2\ngpu 1 result 15\n");
  const Outcome outcome = run_recorded();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output,
              testing::ContainsRegex("gpu_state +gpu 1 +fail +evict +NVML: GPU is"));
}

TEST_F(CheckHealthTest, a_driver_that_hangs_holds_nobody_for_ever) {
  write("gpus", "count 2\nhang nvmlDeviceGetCount_v2\n");
  const Outcome outcome = run_recorded();
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_THAT(outcome.output, testing::ContainsRegex("gpu +- +unknown +- +did not end within 10s"));
  EXPECT_THAT(outcome.output, testing::HasSubstr("not fit for jobs: check_stuck of gpu\n"));
}

TEST_F(CheckHealthTest, json_is_for_scripts) {
  write("kmsg", "NVRM: Xid (PCI:0000:86:00): 95, uncontained\n");
  const Outcome outcome = run_recorded("-o json");
  EXPECT_EQ(outcome.exit_code, 1);
  bool is_there = false;
  for (const nlohmann::json& result : nlohmann::json::parse(outcome.output)) {
    if (result.at("subject") != "gpu 1 xid 95") continue;
    is_there = true;
    EXPECT_EQ(result.at("tier"), "evict");
    EXPECT_EQ(result.at("gpus"), "1");
    EXPECT_THAT(result.at("evidence"), testing::HasSubstr("uncontained"));
  }
  EXPECT_TRUE(is_there) << outcome.output;
}

TEST_F(CheckHealthTest, this_machine_can_be_looked_at_without_a_config) {
  const Outcome outcome = run("-o json");
  EXPECT_LE(outcome.exit_code, 1) << outcome.output;
  EXPECT_GT(nlohmann::json::parse(outcome.output).size(), 15u);
}

TEST_F(CheckHealthTest, nothing_is_written_beside_a_running_agent) {
  write("kmsg", "4,7,1000,-;NVRM: Xid (PCI:0000:3b:00): 79, x\n");
  run_recorded();
  EXPECT_FALSE(std::filesystem::exists(folder + "/faults.json"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/health.json"));
}

}  // namespace
}  // namespace hai
