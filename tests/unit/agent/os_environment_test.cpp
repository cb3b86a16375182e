#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "agent/core/environment.h"
#include "agent/os/launch_file.h"
#include "common/life_state.h"

namespace hai {
namespace {

LaunchRank gang_of_two() {
  LaunchRank order;
  order.key = {.job = {17}, .attempt = 2, .rank = 1};
  order.job_name = "llm";
  order.user = "ann";
  order.workspace = "/data/llm";
  order.entrypoint = "train.py";
  order.gpus = GpuSet::first(4);
  order.ranks = {{.node = "node-1", .address = "10.0.0.1", .zone = "A", .leaf = "a1"},
                 {.node = "node-2", .address = "10.0.0.2", .zone = "A", .leaf = "a2"}};
  order.master_port = 29510;
  order.checkpoint = "/ckpt/5";
  order.whole_life_state = "seen";
  return order;
}

const LocalPaths kPaths = {.socket = "/r/job.sock", .log_dir = "/l", .temp_dir = "/r/tmp"};

std::string value(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "(unset)" : found->second;
}

// Until the program sets another one; also at the job's socket.
TEST(Environment, TheLifeStateBeginsWithThatOfTheJobFile) {
  LaunchRank order = gang_of_two();
  order.environments[kFirstLifeState] = "7";
  EXPECT_EQ(value(build_environment(order, kPaths), "MARSV2_WHOLE_LIFE_STATE"), "seen");
  EXPECT_EQ(make_launch_file(order, kPaths).value().whole_life_state, "seen");
  order.whole_life_state.clear();
  EXPECT_EQ(value(build_environment(order, kPaths), "MARSV2_WHOLE_LIFE_STATE"), "7");
  EXPECT_EQ(make_launch_file(order, kPaths).value().whole_life_state, "7");
}

TEST(Environment, TellsEveryProgramWhoItIs) {
  const Environment env = build_environment(gang_of_two(), kPaths);
  const Environment expected = {{"HAI_JOB_ID", "17"},
                                {"HAI_JOB_NAME", "llm"},
                                {"HAI_ATTEMPT", "2"},
                                {"HAI_USER", "ann"},
                                {"HAI_NODE_NAME", "node-2"},
                                {"HAI_NODE_RANK", "1"},
                                {"HAI_NNODES", "2"},
                                {"HAI_ZONE", "A"},
                                {"HAI_LEAF", "a2"},
                                {"HAI_SOCKET", "/r/job.sock"},
                                {"HAI_LOG_DIR", "/l"},
                                {"HAI_CHECKPOINT", "/ckpt/5"},
                                {"HAI_SUSPEND_EXIT_CODE", "85"},
                                {"MASTER_ADDR", "10.0.0.1"},
                                {"MASTER_IP", "10.0.0.1"},
                                {"MASTER_PORT", "29510"},
                                {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                                {"CUDA_VISIBLE_DEVICES", "0,1,2,3"},
                                {"TMPDIR", "/r/tmp"},
                                {"USER", "ann"},
                                {"LOGNAME", "ann"},
                                {"RANK", "1"},
                                {"WORLD_SIZE", "2"}};
  for (const auto& [name, text] : expected) EXPECT_EQ(value(env, name), text) << name;
  EXPECT_FALSE(env.contains("LOCAL_RANK"));
}

TEST(Environment, TellsProgramsWrittenForHaiWhatTheyRead) {
  LaunchRank order = gang_of_two();
  const Environment expected = {{"MARSV2_NB_NAME", "llm"},
                                {"MARSV2_TASK_ID", "17"},
                                {"MARSV2_TASK_TYPE", "training"},
                                {"MARSV2_TASK_BACKEND", "hai"},
                                {"MARSV2_TASK_WORKSPACE", "/data/llm"},
                                {"MARSV2_TASK_ENTRYPOINT", "train.py"},
                                {"MARSV2_WHOLE_LIFE_STATE", "seen"},
                                {"MARSV2_USER", "ann"},
                                {"MARSV2_LOG_DIR", "/l"},
                                {"MARSV2_NODE_NAME", "node-2"},
                                {"MARSV2_RANK", "1"},
                                {"MARSV2_SCHEDULE_ZONE", "A"},
                                {"NODE_NAME", "node-2"},
                                {"CHAIN_ID", "17"},
                                {"IBV_FORK_SAFE", "1"},
                                {"HF_WATCHDOG_TIME", "(unset)"}};
  const Environment env = build_environment(order, kPaths);
  for (const auto& [name, text] : expected) EXPECT_EQ(value(env, name), text) << name;
  order.watchdog = 90s;
  EXPECT_EQ(value(build_environment(order, kPaths), "HF_WATCHDOG_TIME"), "90");
}

// The table of docs/hai.md.
TEST(Environment, HasTheVariablesOfHaiThatTheDocumentSaysItHas) {
  LaunchRank order = gang_of_two();
  order.watchdog = 90s;
  const Environment env = build_environment(order, kPaths);
  const std::set<std::string> of_the_account = {"MARSV2_UID", "HOME"};  // the shim's
  std::ifstream file(HAI_DOCS);
  std::string line;
  while (std::getline(file, line) && line != "## Environment variables") continue;
  int told = 0;
  int not_told = 0;
  while (std::getline(file, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| `")) continue;
    const size_t bar = line.find(" | ");
    const std::string here = line.substr(bar + 3, line.find(" | ", bar + 3) - bar - 3);
    const bool is_told = here == "every rank" || here == "with `watchdog_time`";
    const bool is_of_git = here == "with `git_remote_repo`";  // `hai run` tells it
    ASSERT_TRUE(is_told || is_of_git || here == "not set") << line;
    for (size_t at = line.find('`'); at < bar; at = line.find('`', at + 1)) {
      const size_t end = line.find('`', at + 1);
      const std::string name = line.substr(at + 1, end - at - 1);
      EXPECT_EQ(env.contains(name), is_told && !of_the_account.contains(name)) << name;
      ++(is_told ? told : not_told);
      at = end;
    }
  }
  EXPECT_GT(told, 20);
  EXPECT_GT(not_told, 30);
}

TEST(Environment, TorchPerNodeLeavesNumberingToTorchrun) {
  LaunchRank order = gang_of_two();
  order.env_style = EnvStyle::torch;
  LocalPaths paths = kPaths;
  paths.base = {{"RANK", "9"}};
  const Environment env = build_environment(order, paths);
  EXPECT_EQ(value(env, "RANK"), "(unset)");
  EXPECT_EQ(value(env, "WORLD_SIZE"), "(unset)");
  EXPECT_EQ(value(env, "NODE_RANK"), "1");
  EXPECT_EQ(value(env, "GROUP_RANK"), "1");
  EXPECT_EQ(value(env, "NNODES"), "2");
}

TEST(Environment, TorchPerGpuNumbersProcesses) {
  LaunchRank order = gang_of_two();
  order.env_style = EnvStyle::torch;
  order.launch = LaunchMode::per_gpu;
  ASSERT_EQ(process_count(order), 4);
  const Environment env = build_environment(order, kPaths, 2);
  EXPECT_EQ(value(env, "RANK"), "6");
  EXPECT_EQ(value(env, "WORLD_SIZE"), "8");
  EXPECT_EQ(value(env, "LOCAL_RANK"), "2");
  EXPECT_EQ(value(env, "LOCAL_WORLD_SIZE"), "4");
  EXPECT_EQ(value(env, "CUDA_VISIBLE_DEVICES"), "0,1,2,3");
}

// A whole node has 8 GPUs here and 4 there: each number from 0 to 15 is given once.
TEST(Environment, RanksOfUnequalNodesShareNoNumber) {
  const std::vector<int> gpus = {8, 4, 4};
  std::vector<RankPlace> places;
  for (size_t i = 0; i < gpus.size(); ++i) {
    places.push_back({.node = "node-" + std::to_string(i + 1), .gpus = gpus[i]});
  }
  std::vector<int> numbers;
  for (int rank = 0; rank < 3; ++rank) {
    LaunchRank order = gang_of_two();
    order.env_style = EnvStyle::slurm;
    order.launch = LaunchMode::per_gpu;
    order.ranks = RankPlaces(places);
    order.key.rank = rank;
    order.gpus = GpuSet::first(gpus[static_cast<size_t>(rank)]);
    for (int process = 0; process < process_count(order); ++process) {
      const Environment env = build_environment(order, kPaths, process);
      numbers.push_back(std::stoi(value(env, "RANK")));
      EXPECT_EQ(value(env, "WORLD_SIZE"), "16");
      EXPECT_EQ(value(env, "SLURM_PROCID"), value(env, "RANK"));
      EXPECT_EQ(value(env, "SLURM_TASKS_PER_NODE"), "8,4(x2)");
      EXPECT_EQ(value(env, "SLURM_NTASKS_PER_NODE"), "(unset)");
      EXPECT_EQ(value(env, "LOCAL_WORLD_SIZE"), std::to_string(order.gpus.count()));
    }
  }
  ASSERT_EQ(numbers.size(), 16U);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(numbers[static_cast<size_t>(i)], i);
}

TEST(Environment, HaiPerGpuKeepsNodeNumbers) {
  LaunchRank order = gang_of_two();
  order.launch = LaunchMode::per_gpu;
  const Environment env = build_environment(order, kPaths, 3);
  EXPECT_EQ(value(env, "RANK"), "1");
  EXPECT_EQ(value(env, "WORLD_SIZE"), "2");
  EXPECT_EQ(value(env, "LOCAL_RANK"), "3");
}

TEST(Environment, SlurmNames) {
  LaunchRank order = gang_of_two();
  order.env_style = EnvStyle::slurm;
  order.launch = LaunchMode::per_gpu;
  order.cpus = 48;
  const Environment env = build_environment(order, kPaths, 1);
  const Environment expected = {{"SLURM_JOB_ID", "17"},
                                {"SLURM_JOBID", "17"},
                                {"SLURM_JOB_NAME", "llm"},
                                {"SLURM_JOB_USER", "ann"},
                                {"SLURM_SUBMIT_DIR", "/data/llm"},
                                {"SLURM_NODEID", "1"},
                                {"SLURM_NNODES", "2"},
                                {"SLURM_JOB_NUM_NODES", "2"},
                                {"SLURM_NODELIST", "node-[1-2]"},
                                {"SLURM_JOB_NODELIST", "node-[1-2]"},
                                {"SLURMD_NODENAME", "node-2"},
                                {"SLURM_PROCID", "5"},
                                {"SLURM_LOCALID", "1"},
                                {"SLURM_NTASKS", "8"},
                                {"SLURM_NPROCS", "8"},
                                {"SLURM_NTASKS_PER_NODE", "4"},
                                {"SLURM_TASKS_PER_NODE", "4(x2)"},
                                {"SLURM_GPUS_ON_NODE", "4"},
                                {"SLURM_CPUS_ON_NODE", "48"},
                                {"SLURM_JOB_CPUS_PER_NODE", "48(x2)"},
                                {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.1"},
                                {"SLURM_RESTART_COUNT", "1"}};
  for (const auto& [name, text] : expected) EXPECT_EQ(value(env, name), text) << name;
  order.ranks = {{.node = "node-1", .address = "10.0.0.1"}};
  order.key = {.job = {17}, .attempt = 1, .rank = 0};
  order.cpus = 0;
  const Environment alone = build_environment(order, kPaths, 1);
  EXPECT_EQ(value(alone, "SLURM_TASKS_PER_NODE"), "4");
  EXPECT_EQ(value(alone, "SLURM_RESTART_COUNT"), "0");
  EXPECT_EQ(value(alone, "SLURM_CPUS_ON_NODE"), "(unset)");
}

// A node that is told only its own place, names, sizes and where rank 0 is (v1.Gang).
TEST(Environment, IsTheSameWhereLessIsToldOfTheOthers) {
  for (const EnvStyle style : {EnvStyle::hai, EnvStyle::torch, EnvStyle::slurm}) {
    for (const int rank : {0, 1}) {
      LaunchRank order = gang_of_two();
      order.env_style = style;
      order.launch = LaunchMode::per_gpu;
      order.key.rank = rank;
      LaunchRank told = order;
      told.here = order.ranks[static_cast<size_t>(rank)];
      told.ranks = {{.node = "node-1", .address = "10.0.0.1"}, {.node = "node-2"}};
      EXPECT_EQ(build_environment(told, kPaths, 2), build_environment(order, kPaths, 2)) << rank;
    }
  }
}

TEST(Environment, UserOverridesAllButTheSocket) {
  LaunchRank order = gang_of_two();
  order.environments = {{"HAI_SOCKET", "/evil"}, {"MASTER_PORT", "1"}, {"PYTHONPATH", "/mine"}};
  LocalPaths paths = kPaths;
  paths.python_dir = "/usr/lib/hai";
  paths.base = {{"PATH", "/bin"}, {"HAI_SOCKET", "/outer"}};
  const Environment env = build_environment(order, paths);
  EXPECT_EQ(value(env, "HAI_SOCKET"), "/r/job.sock");
  EXPECT_EQ(value(env, "MASTER_PORT"), "1");
  EXPECT_EQ(value(env, "PYTHONPATH"), "/mine:/usr/lib/hai");
  EXPECT_EQ(value(env, "PATH"), "/bin");
}

TEST(Environment, SurvivesAnOrderWithoutPlaces) {
  LaunchRank order = gang_of_two();
  order.ranks.clear();
  order.gpus = {};
  order.launch = LaunchMode::per_gpu;
  EXPECT_EQ(process_count(order), 1);
  const Environment env = build_environment(order, kPaths);
  EXPECT_EQ(value(env, "MASTER_ADDR"), "");
  EXPECT_EQ(value(env, "CUDA_VISIBLE_DEVICES"), "");
}

}  // namespace
}  // namespace hai
