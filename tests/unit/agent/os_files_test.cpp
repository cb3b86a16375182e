// Launch file, status file, shell words, signals, rank keys: what agent and shim write for each
// other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "agent/os/host_facts.h"
#include "agent/os/launch_file.h"
#include "agent/os/rank_directory.h"
#include "agent/os/status_json.h"
#include "common/launch_refusal.h"

namespace hai {
namespace {

using testing::ElementsAre;

TEST(RankDirectory, KeysRoundTrip) {
  const RankKey key = {.job = {17}, .attempt = 2, .rank = 11};
  EXPECT_EQ(parse_rank_key(to_string(key)), key);
  for (const char* text :
       {"", "17", "17.2", "17.2.", "17.2.0x", ".2.0", "a.b.c", "-1.2.0", "lock", "17.2.0.1"}) {
    EXPECT_EQ(parse_rank_key(text), std::nullopt) << text;
  }
}

TEST(StatusJson, RoundTrips) {
  RankStatus status;
  status.key = {.job = {17}, .attempt = 2, .rank = 3};
  for (const RankPhase phase : {RankPhase::starting, RankPhase::running, RankPhase::exited}) {
    for (const ExitCause cause : {ExitCause::none, ExitCause::program, ExitCause::go_suspend,
                                  ExitCause::grace_over, ExitCause::killed, ExitCause::fenced,
                                  ExitCause::launch_failed, ExitCause::lost, ExitCause::left}) {
      status.phase = phase;
      status.cause = cause;
      EXPECT_EQ(status_from_json(status_to_json(status)).value(), status);
    }
  }
  status.suspend_notified = true;
  status.exit_code = 137;
  status.message = "a \"quoted\"\nline";
  status.started_at = unix_micros(1'700'000'000'000'001);
  status.ended_at = unix_micros(1'700'000'000'000'002);
  status.checkpoint =
      CheckpointInfo{.step = 5, .path = "/c", .save_seconds = 1.25, .at = unix_micros(7)};
  status.progress_step = 9;
  status.whole_life_state = "";
  status.usage = RankUsage{.cpu_time = 90min, .peak_memory_bytes = int64_t{1} << 40};
  EXPECT_EQ(status_from_json(status_to_json(status)).value(), status);
  EXPECT_EQ(parse_status_line(make_status_line(status)).value(), status);
  EXPECT_EQ(make_status_line(status).find('\n'), std::string::npos);
}

TEST(StatusJson, RefusesJunkAndSkipsAnswers) {
  for (const char* text : {"", "{}", "[]", "{\"job\":\"x\"}", "junk"}) {
    EXPECT_FALSE(status_from_json(text).is_ok()) << text;
  }
  EXPECT_EQ(parse_status_line(R"({"ok":true})").value(), std::nullopt);
  EXPECT_FALSE(parse_status_line("junk").is_ok());
  EXPECT_FALSE(parse_status_line(R"({"status":{}})").is_ok());
}

LaunchRank simple_order() {
  LaunchRank order;
  order.key = {.job = {1}, .attempt = 1, .rank = 0};
  order.workspace = "/w";
  order.entrypoint = "train.py";
  order.parameters = "--name 'two words'";
  return order;
}

TEST(LaunchFile, ChoosesTheInterpreter) {
  LaunchRank order = simple_order();
  const auto argv = [&order] { return make_launch_file(order, {}).value().processes.at(0).argv; };
  EXPECT_THAT(argv(), ElementsAre("python3", "-u", "train.py", "--name", "two words"));
  order.entrypoint = "run.sh";
  EXPECT_THAT(argv(), ElementsAre("bash", "run.sh", "--name", "two words"));
  order.entrypoint = "bin/train";
  EXPECT_THAT(argv(), ElementsAre("bin/train", "--name", "two words"));
}

TEST(LaunchFile, RefusesWhatCannotStart) {
  LaunchRank order = simple_order();
  order.workspace = "relative";
  EXPECT_FALSE(make_launch_file(order, {}).is_ok());
  order = simple_order();
  order.entrypoint = "";
  EXPECT_FALSE(make_launch_file(order, {}).is_ok());
  order = simple_order();
  order.parameters = "'open";
  EXPECT_FALSE(make_launch_file(order, {}).is_ok());
  order = simple_order();
  order.suspend_signal = "SIGWHAT";
  EXPECT_FALSE(make_launch_file(order, {}).is_ok());
  order = simple_order();
  order.environments = {{"A=B", "x"}};
  EXPECT_FALSE(make_launch_file(order, {}).is_ok());
}

TEST(LaunchFile, IsNotMadeWhereTheServerSaysWhyNot) {
  LaunchRank order = simple_order();
  order.environments = {{std::string(kLaunchRefusal), "the secret key of ann is not there"}};
  const Status refused = make_launch_file(order, {}).status();
  EXPECT_EQ(refused.message(), "the secret key of ann is not there");
  EXPECT_EQ(refused.code(), Code::invalid_argument) << "then it is the job's fault";
}

TEST(LaunchFile, RoundTrips) {
  LaunchRank order = simple_order();
  order.launch = LaunchMode::per_gpu;
  order.gpus = GpuSet::first(2);
  order.suspend_signal = "SIGUSR1";
  order.watchdog = 30min;
  order.program.core_size = 4096;
  order.program.mounts = {"/data:/x:ro"};
  order.image = "docker://team/box:1";
  order.proof = std::string("\x00\xff\"proof", 8);
  LaunchFile launch =
      make_launch_file(order, {.socket = "/s", .log_dir = "/l", .temp_dir = "/t"}).value();
  launch.lease_until = MonoTime(5s);
  launch.socket_dir = "/r";
  launch.cgroups = {"/sys/fs/cgroup/hai/x"};
  launch.cpus = {0, 1, 8};
  launch.unknown_user_runs_as_self = true;
  launch.images = {.store = "/i",
                   .bytes_max = 7,
                   .mounts = {"/a"},
                   .allowed_mounts = {"/b"},
                   .patience = 3min,
                   .cdi = {"/c"},
                   .gpu_device = "v/g",
                   .environment = {{"HOME", "/root"}}};
  ASSERT_EQ(launch.processes.size(), 2u);
  EXPECT_EQ(launch.proof, order.proof);
  EXPECT_EQ(launch_file_from_json(launch_file_to_json(launch)).value(), launch);
  EXPECT_FALSE(launch_file_from_json("{}").is_ok());
}

TEST(LaunchFile, IsReadWithoutTheOptionsOfToday) {
  const LaunchFile launch = make_launch_file(simple_order(), {}).value();
  std::string json = launch_file_to_json(launch);
  const std::string options = ",\"program\":{\"core_size\":0,\"mounts\":[],\"services\":[]}";
  const size_t at = json.find(options);
  ASSERT_NE(at, std::string::npos) << json;
  EXPECT_EQ(launch_file_from_json(json.erase(at, options.size())).value(), launch);
}

TEST(HostFacts, AreThoseOfThisMachine) {
  const NodeFacts facts = gather_host_facts();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_GE(facts.cpus, 1);
  EXPECT_GT(facts.memory_bytes, 1 << 20);
  EXPECT_GE(facts.numa_nodes, 1);
  EXPECT_EQ(facts.boot_id.size(), 36u);
  EXPECT_EQ(gather_host_facts("/nonexistent", "/nonexistent").memory_bytes, 0);
}

}  // namespace
}  // namespace hai
