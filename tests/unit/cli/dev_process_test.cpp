#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/dev/node_processes.h"
#include "cli/dev/ports.h"
#include "cli/dev/process.h"
#include "cli/file.h"
#include "cli/patience.h"

namespace hai::cli {
namespace {

template <typename Condition>
bool within(Duration limit, const Condition& condition) {
  const MonoTime end = mono_now() + limit;
  while (!condition()) {
    if (mono_now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class DevProcess : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "/hai-process-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    kill_processes(started_);
    std::filesystem::remove_all(folder_);
  }

  ProcessId start(const std::string& script) {
    const Result<ProcessId> started = start_daemon(
        {.words = {"/bin/sh", "-c", script}, .log_file = folder_ + "/log", .directory = folder_});
    EXPECT_TRUE(started.is_ok()) << started.status().message();
    if (!started.is_ok()) return {};
    started_.push_back(started.value());
    return started.value();
  }

  std::string folder_;
  std::vector<ProcessId> started_;
};

TEST_F(DevProcess, AProcessIsFoundAgainByItsPidFile) {
  const ProcessId process = start("sleep 100");
  ASSERT_TRUE(write_pid_file(folder_ + "/pid", process).is_ok());
  EXPECT_EQ(read_pid_file(folder_ + "/pid"), process);
  kill_processes({process});
  EXPECT_TRUE(wait_until_gone({process}, 10s));
  EXPECT_EQ(read_pid_file(folder_ + "/pid"), std::nullopt);
}

TEST_F(DevProcess, ARecycledPidIsSomebodyElse) {
  ProcessId self = *find_process(getpid());
  EXPECT_TRUE(is_alive(self));
  --self.start_time;
  EXPECT_FALSE(is_alive(self));
  kill_processes({self});  // must not kill this test
}

// An agent was started while the one before still held the data directory.
TEST_F(DevProcess, IsNotGoneBeforeItsLastThreadIs) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] {
      for (;;) pause();
    }).detach();
    syscall(SYS_exit, 0);  // of this thread alone
  }
  ASSERT_TRUE(within(10s, [&] {
    std::ifstream in(fmt::format("/proc/{}/stat", child));
    std::string line;
    std::getline(in, line);
    return line.find(") Z ") != std::string::npos;
  }));
  const std::optional<ProcessId> process = find_process(child);
  ASSERT_TRUE(process.has_value());
  started_.push_back(*process);
  EXPECT_TRUE(is_alive(*process));
  kill_processes({*process});
  EXPECT_TRUE(wait_until_gone({*process}, 10s));
}

TEST_F(DevProcess, StoppingEndsWhatIgnoresTheRequest) {
  const ProcessId process = start("trap '' TERM; echo ready; while :; do sleep 0.1; done");
  ASSERT_TRUE(within(10s, [&] { return tail_of(folder_ + "/log", 1) == "    ready\n"; }));
  stop_processes({process}, 50ms);
  EXPECT_TRUE(wait_until_gone({process}, 10s));
}

TEST_F(DevProcess, RunningToTheEndTellsTheExitCodeAndTheLog) {
  Program program{.words = {"/bin/sh", "-c", "exit 0"}, .log_file = folder_ + "/log"};
  EXPECT_TRUE(run_program(program).is_ok());
  program.words = {"/bin/sh", "-c", "echo oh no; exit 3"};
  EXPECT_EQ(run_program(program).message(), "/bin/sh failed (exit code 3):\n    oh no\n");
}

TEST_F(DevProcess, ANodeIsItsShimsTheirDescendantsAndOrphans) {
  const std::string node = folder_ + "/node-1";
  ASSERT_TRUE(make_directories(node + "/ranks/17.1.0", 0755).is_ok());
  const ProcessId shim = start("(sleep 100 & sleep 100 & wait) & wait");
  ASSERT_TRUE(write_pid_file(node + "/ranks/17.1.0/lock", shim).is_ok());
  const ProcessId orphan = start("HAI_LOG_DIR=" + node + "/logs/17.1.0 exec sleep 100");
  const ProcessId other = start("HAI_LOG_DIR=" + node + "0/logs/17.1.0 exec sleep 100");
  ASSERT_TRUE(within(10s, [&] { return find_node_processes(node, std::nullopt).size() == 5; }));
  EXPECT_TRUE(kill_node_processes(node, std::nullopt, 10s));
  EXPECT_TRUE(find_node_processes(node, std::nullopt).empty());
  EXPECT_FALSE(is_alive(shim));
  EXPECT_FALSE(is_alive(orphan));
  EXPECT_TRUE(is_alive(other));
}

TEST_F(DevProcess, AFreePortIsFreeAndSilent) {
  const Result<int> port = find_free_port(0);
  ASSERT_TRUE(port.is_ok());
  EXPECT_TRUE(is_free(port.value()));
  EXPECT_EQ(http_status(port.value(), "/readyz"), 0);
}

}  // namespace
}  // namespace hai::cli
