// How ranks end: the whole tree, suspends, leases; and what programs can say by their socket.

#include <sys/resource.h>

#include "agent/os/cgroup.h"
#include "agent/os/rank_leftovers.h"
#include "agent/os/shim_process.h"
#include "agent/shim/login_door.h"
#include "tests/unit/agent/os_rank_fixture.h"

namespace hai {
namespace {

using testing::HasSubstr;

// It must not be reported as ended, and started elsewhere, while it may run.
TEST(RankLeftovers, OfWhomNobodyCanBeLookedForAreNotGone) {
  RankDirectory directory{.path = testing::TempDir() + "/no-such-rank"};
  EXPECT_FALSE(is_shim_alive(directory));
  EXPECT_TRUE(kill_leftovers({.job_socket = "/no-such-socket", .cgroups = {}}));
  rlimit kept{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &kept), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = kept.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool is_alive = is_shim_alive(directory);
  const bool is_gone = kill_leftovers({.job_socket = "/no-such-socket", .cgroups = {}});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &kept), 0);
  EXPECT_TRUE(is_alive) << "nothing can be opened: that is not known";
  EXPECT_FALSE(is_gone);
}

// Children in sessions of their own, orphaned, one of them deaf to SIGTERM. Goes on when all are
// there.
constexpr const char* kManyProcesses = R"(
cat > deaf.sh <<'END'
trap "" TERM
touch deaf
while true; do sleep 1000; done
END
(setsid bash deaf.sh &)
(setsid bash -c 'touch session; sleep 1000; true' &)
(bash -c 'touch orphan; sleep 1000; true' &)
while [ ! -e deaf -o ! -e session -o ! -e orphan ]; do sleep 0.01; done
touch started
)";

class RankEndTest : public RankHostTest {
 protected:
  // How many live processes the rank has, by its unique socket.
  size_t processes(const RankKey& key) {
    return processes_with_environment("HAI_SOCKET=" + job_socket(rank_dir(key))).size();
  }
  JobClient client(const RankKey& key) { return JobClient(job_socket(rank_dir(key))); }
};

TEST_F(RankEndTest, KillReachesEveryProcess) {
  start_host();
  const LaunchRank job = script(std::string(kManyProcesses) + "wait; sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  EXPECT_GE(processes(job.key), 5u);
  host_->kill(job.key);
  host_->kill(job.key);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::killed);
  EXPECT_EQ(status.exit_code, 128 + SIGTERM);
  EXPECT_EQ(processes(job.key), 0u);
}

// Of children, of what they leave to others, and of what was killed.
TEST_F(RankEndTest, TellsWhatItsProcessesHaveUsed) {
  start_host();
  write_script("eat.py", R"(import os, sys, time
if sys.argv[1:]:
    held = b"x" * (100 << 20)
while time.process_time() < 0.3:
    pass
open(f"eaten.{os.getpid()}", "w").close()
time.sleep(1000)
)");
  const LaunchRank job = script(
      "(setsid python3 eat.py much &); python3 eat.py & "
      "while [ $(ls eaten.* 2>/dev/null | wc -l) != 2 ]; do sleep 0.01; done; exit 7");
  launch(job);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.exit_code, 7);
  ASSERT_TRUE(status.usage.has_value());
  EXPECT_GE(status.usage->cpu_time, 600ms);
  EXPECT_LE(status.usage->cpu_time, 60s);
  EXPECT_GE(status.usage->peak_memory_bytes, 100 << 20);
  EXPECT_LE(status.usage->peak_memory_bytes, 200 << 20) << "of the largest, not the sum";
}

TEST_F(RankEndTest, LeftoversOfAnEndedProgramAreKilled) {
  start_host();
  const LaunchRank job = script(std::string(kManyProcesses) + "exit 3");
  launch(job);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::program);
  EXPECT_EQ(status.exit_code, 3);
  EXPECT_EQ(processes(job.key), 0u);
}

// As hai-pam does with a login: no child of the shim, and deaf to all but SIGKILL.
TEST_F(RankEndTest, WhatWasMovedIntoItsCgroupsEndsWithIt) {
  start_host();
  const LaunchRank job = script("touch started; while [ ! -e go ]; do sleep 0.01; done; exit 6");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  const std::vector<std::string> groups = host_->ranks_in_use().at(0).cgroups;
  const pid_t guest = ::fork();
  if (guest == 0) {
    ::signal(SIGTERM, SIG_IGN);
    while (true) ::pause();
  }
  const Status moved = groups.empty() ? not_found("none") : move_into_cgroups(guest, groups);
  if (!moved.is_ok()) ::kill(guest, SIGKILL);
  write_script("go", "");
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::program);
  EXPECT_EQ(status.exit_code, 6);
  // It is gone already, not only asked to go.
  int wait_status = 0;
  const pid_t gone = ::waitpid(guest, &wait_status, moved.is_ok() ? WNOHANG : 0);
  if (gone == 0) {
    ::kill(guest, SIGKILL);
    ::waitpid(guest, nullptr, 0);
  }
  if (groups.empty()) GTEST_SKIP() << "no control groups here, or not root";
  EXPECT_TRUE(moved.is_ok()) << moved.message();
  EXPECT_EQ(gone, guest);
  EXPECT_TRUE(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL);
  for (const std::string& group : groups) EXPECT_FALSE(std::filesystem::exists(group)) << group;
}

// Some are there at any time until the door is shut.
void send_in_logins(const std::string& door, const std::vector<std::string>& groups) {
  constexpr int kLoginsMax = 20;
  int logins = 0;
  while (std::filesystem::exists(door)) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) --logins;
    const pid_t login = logins < kLoginsMax ? ::fork() : -1;
    if (login == 0) {
      while (true) ::pause();
    }
    if (login < 0) continue;
    ++logins;
    if (groups.empty() || !move_into_cgroups(login, groups).is_ok()) ::kill(login, SIGKILL);
  }
}

// Found by a review: logins that came again and again while a rank ended filled its groups as fast
// as they were emptied, and the rank never ended.
TEST_F(RankEndTest, ShutsItsDoorBeforeItEndsLogins) {
  start_host();
  const LaunchRank job = script("touch started; while [ ! -e go ]; do sleep 0.01; done");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  const std::vector<std::string> groups = host_->ranks_in_use().at(0).cgroups;
  const std::string door = logins_file(rank_directory(options_.data_dir, job.key));
  ASSERT_TRUE(std::filesystem::exists(door));
  const pid_t sshd = ::fork();
  if (sshd == 0) {  // Sends in one login after the other, as long as the door is open.
    ::alarm(2 * kPatience.count());
    send_in_logins(door, groups);
    ::_exit(0);
  }
  write_script("go", "");
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::program);
  EXPECT_FALSE(std::filesystem::exists(door));
  int wait_status = 0;
  EXPECT_EQ(::waitpid(sshd, &wait_status, 0), sshd);
  EXPECT_TRUE(WIFEXITED(wait_status));
  for (const std::string& group : groups) {
    for (const pid_t left : cgroup_processes({group})) ::kill(left, SIGKILL);
  }
  if (groups.empty()) GTEST_SKIP() << "no control groups here, or not root";
}

TEST_F(RankEndTest, StoppedProcessesCanStillHandleTheEnd) {
  start_host();
  const LaunchRank job =
      script("trap 'echo bye; exit 4' TERM; touch started; kill -STOP $$; sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  host_->kill(job.key);
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::killed);
}

TEST_F(RankEndTest, SuspendByFlagAndGoSuspend) {
  start_host();
  const LaunchRank job = script("sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  JobClient program = client(job.key);
  EXPECT_EQ(program.ask(R"({"op":"receive_suspend_command"})"), R"({"ok":true,"suspend":false})");
  host_->suspend({job.key, 10min});
  ASSERT_TRUE(run_until([&] { return statuses_[job.key].suspend_notified; }));
  EXPECT_EQ(program.ask(R"({"op":"receive_suspend_command"})"), R"({"ok":true,"suspend":true})");
  EXPECT_EQ(program.ask(R"({"op":"report_checkpoint","step":9,"path":"/c/9","seconds":2.5})"),
            R"({"ok":true})");
  EXPECT_EQ(program.ask(R"({"op":"go_suspend"})"), R"({"ok":true})");
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::go_suspend);
  ASSERT_TRUE(status.checkpoint.has_value());
  EXPECT_EQ(status.checkpoint->step, 9);
  EXPECT_EQ(status.checkpoint->path, "/c/9");
  EXPECT_EQ(status.checkpoint->save_seconds, 2.5);
}

TEST_F(RankEndTest, SuspendBySignal) {
  start_host();
  write_script("job.py", R"(
import signal, sys
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(85))
open("started", "w").close()
while True: signal.sigtimedwait([], 0.05)  # pause() may miss a signal that comes before it
)");
  LaunchRank job = order("job.py");
  job.suspend_signal = "SIGUSR1";
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  host_->suspend({job.key, 10min});
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::program);
  EXPECT_EQ(status.exit_code, 85);
  EXPECT_TRUE(status.suspend_notified);
}

TEST_F(RankEndTest, GraceEnds) {
  start_host();
  const LaunchRank job = script("sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  host_->suspend({job.key, 100ms});
  host_->suspend({job.key, 10min});  // Keeps the first deadline.
  EXPECT_EQ(wait_exited(job.key).cause, ExitCause::grace_over);
}

TEST_F(RankEndTest, ContinueTakesTheSuspendBack) {
  start_host();
  const LaunchRank job = script("while [ ! -e go ]; do sleep 0.01; done; exit 6");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  host_->suspend({job.key, 1s});
  ASSERT_TRUE(run_until([&] { return statuses_[job.key].suspend_notified; }));
  host_->resume(job.key);
  ASSERT_TRUE(run_until([&] { return !statuses_[job.key].suspend_notified; }));
  EXPECT_EQ(client(job.key).ask(R"({"op":"receive_suspend_command"})"),
            R"({"ok":true,"suspend":false})");
  const MonoTime deadline =
      loop_.now() + 1500ms;  // It must outlive the deadline that was taken back.
  run_until([&] { return loop_.now() > deadline; });
  EXPECT_EQ(statuses_[job.key].phase, RankPhase::running);
  write_script("go", "");
  EXPECT_EQ(wait_exited(job.key).exit_code, 6);
}

TEST_F(RankEndTest, LeaseFencesWithoutAnAgent) {
  start_host();
  const LaunchRank job = script("trap '' TERM; touch started; while true; do sleep 1000; done");
  launch(job, 2s);
  ASSERT_TRUE(wait_file("started"));
  host_.reset();
  ASSERT_TRUE(poll([&] { return live_descendants() == 0; }));
  start_host();
  EXPECT_EQ(statuses_[job.key].phase, RankPhase::exited);
  EXPECT_EQ(statuses_[job.key].cause, ExitCause::fenced);
}

TEST_F(RankEndTest, ExtendedLeaseKeepsItAlive) {
  start_host();
  const LaunchRank job = script("while [ ! -e go ]; do sleep 0.01; done; exit 6");
  launch(job, 1500ms);
  ASSERT_TRUE(wait_running(job.key));
  host_->extend_leases(loop_.now() + 10min);
  const MonoTime deadline = loop_.now() + 2s;
  run_until([&] { return loop_.now() > deadline; });
  write_script("go", "");
  EXPECT_EQ(wait_exited(job.key).exit_code, 6);
}

TEST_F(RankEndTest, SocketSurvivesJunk) {
  start_host();
  const LaunchRank job = script("sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  JobClient program = client(job.key);
  EXPECT_THAT(program.ask("junk"), HasSubstr(R"("ok":false)"));
  EXPECT_THAT(program.ask(std::string("\0\xff{", 3)), HasSubstr(R"("ok":false)"));
  EXPECT_THAT(program.ask(std::string(2 << 20, 'x')), HasSubstr("line too long"));
  EXPECT_EQ(program.ask(R"({"op":"receive_suspend_command"})"), R"({"ok":true,"suspend":false})");
  { client(job.key).send(R"({"op":"receive_)"); }  // Goes away inside a line.
  program.send(
      "{\"op\":\"report_progress\",\"step\":4}\n{\"op\":\"get_whole_life_state\"}\n");  // Two at
                                                                                        // once.
  EXPECT_EQ(program.receive_line(), R"({"ok":true})");
  EXPECT_EQ(program.receive_line(), R"({"ok":true,"state":""})");
  EXPECT_TRUE(run_until([&] { return statuses_[job.key].progress_step == 4; }));
}

TEST_F(RankEndTest, SocketBoundsConnections) {
  start_host();
  const LaunchRank job = script("sleep 1000");
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  std::vector<JobClient> clients;
  for (int i = 0; i < 256; ++i) clients.push_back(client(job.key));
  EXPECT_EQ(clients.back().ask(R"({"op":"receive_suspend_command"})"),
            R"({"ok":true,"suspend":false})");
  EXPECT_THAT(client(job.key).receive_line(), HasSubstr("too many connections"));
  clients.pop_back();
  EXPECT_TRUE(poll([&] {
    return client(job.key).ask(R"({"op":"go"})").find("unknown op") != std::string::npos;
  }));
}

// Ends a program that forks without end, with nothing but process lists.
TEST_F(RankEndTest, ForkingFasterThanWeLookDoesNotHelp) {
  options_.use_cgroups = false;
  start_host();
  write_script("storm.py", R"(
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
open("started", "w").close()
for i in range(1000000):
    if os.fork() != 0: os._exit(0)  # The child goes on under a new pid.
)");
  const LaunchRank job = order("storm.py");
  launch(job);
  ASSERT_TRUE(wait_file("started"));
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::program);
  EXPECT_EQ(processes(job.key), 0u);
}

TEST_F(RankEndTest, PythonSdkSpeaksToTheShim) {
  options_.python_dir = HAI_SDK_PATH;
  start_host();
  write_script("train.py", R"(
import time, hai
hai.set_whole_life_state("seen")
print(hai.get_whole_life_state())
hai.report_progress(1)
open("ready", "w").close()
while not hai.receive_suspend_command(): time.sleep(0.01)
hai.report_checkpoint(7, "/c/7", 0.5)
hai.go_suspend()
print("never")
)");
  const LaunchRank job = order("train.py");
  launch(job);
  ASSERT_TRUE(wait_file("ready"));
  host_->suspend({job.key, 10min});
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::go_suspend);
  EXPECT_EQ(status.checkpoint->step, 7);
  EXPECT_EQ(status.progress_step, 1);
  EXPECT_EQ(status.whole_life_state, "seen");
  EXPECT_THAT(log_lines(job.key), testing::ElementsAre("seen"));
}

TEST_F(RankEndTest, WholeLifeStateAndWatchdog) {
  start_host();
  LaunchRank job = script("sleep 1000");
  job.whole_life_state = "from before";
  launch(job);
  ASSERT_TRUE(wait_running(job.key));
  JobClient program = client(job.key);
  EXPECT_EQ(program.ask(R"({"op":"get_whole_life_state"})"),
            R"({"ok":true,"state":"from before"})");
  EXPECT_EQ(program.ask(R"({"op":"set_whole_life_state","state":"new"})"), R"({"ok":true})");
  EXPECT_EQ(program.ask(R"({"op":"get_whole_life_state"})"), R"({"ok":true,"state":"new"})");
  EXPECT_TRUE(run_until([&] { return statuses_[job.key].whole_life_state == "new"; }));
  EXPECT_EQ(program.ask(R"({"op":"set_watchdog_time","seconds":0.05})"), R"({"ok":true})");
  EXPECT_TRUE(
      run_until([&] { return statuses_[job.key].message.find("no progress report") == 0; }));
  EXPECT_EQ(program.ask(R"({"op":"set_watchdog_time","seconds":600})"), R"({"ok":true})");
  EXPECT_TRUE(run_until([&] { return statuses_[job.key].message.empty(); }));
}

TEST_F(RankEndTest, MemoryLimitIsKeptAndSaid) {
  const CgroupMounts mounts = find_cgroup_mounts();
  const bool has_memory = mounts.unified_has_controllers || !mounts.memory.empty();
  if (::geteuid() != 0 || !has_memory) GTEST_SKIP() << "no memory cgroups";
  start_host();
  write_script("eat.py", "x = bytearray(256 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\n");
  LaunchRank job = order("eat.py");
  job.memory_bytes = 64 << 20;
  launch(job);
  const RankStatus status = wait_exited(job.key);
  EXPECT_EQ(status.cause, ExitCause::program);
  EXPECT_EQ(status.exit_code, 137);
  EXPECT_EQ(status.message, "killed: out of memory (cgroup limit 64 MiB)");
}

// As below a unit of systemd, which has a group for its slice and one for itself.
TEST(Cgroups, AreMadeBelowAParentOfSeveralNames) {
  const CgroupMounts mounts = find_cgroup_mounts();
  CgroupHost host(mounts, "hai-test.slice/hai-test.service", "probe");
  const std::vector<std::string> groups = host.create("1.1.0", {.processes = 10}).directories;
  if (groups.empty()) GTEST_SKIP() << "no usable cgroups";
  for (const std::string& group : groups) {
    EXPECT_TRUE(group.ends_with("/hai-test.slice/hai-test.service/probe.1.1.0")) << group;
    EXPECT_TRUE(std::filesystem::exists(group));
  }
  host.remove_others({});
  for (const std::string& group : groups) {
    EXPECT_FALSE(std::filesystem::exists(group));
    const std::filesystem::path parent = std::filesystem::path(group).parent_path();
    EXPECT_TRUE(std::filesystem::remove(parent));
    EXPECT_TRUE(std::filesystem::remove(parent.parent_path()));
  }
}

// hai-pam gives what a file says to this, as root.
TEST(Cgroups, TakeProcessesOnlyBelowAMountOfTheirs) {
  const std::string root = find_cgroup_mounts().unified;
  std::string folder = "/tmp/hai-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/cgroup.procs") << "untouched";
  for (const std::string& path :
       {folder, root, root + "/", root + "/..", root + "/../../.." + folder,
        std::string("/proc/self"), std::string("hai"), std::string()}) {
    EXPECT_EQ(move_into_cgroups(::getpid(), {path}).code(), Code::failed_precondition) << path;
  }
  std::string text;
  std::getline(std::ifstream(folder + "/cgroup.procs"), text);
  EXPECT_EQ(text, "untouched");
  std::filesystem::remove_all(folder);
}

TEST(Cgroups, ArePathsOfPlainNames) {
  EXPECT_TRUE(is_cgroup_path("hai"));
  EXPECT_TRUE(is_cgroup_path("hai.slice/hai-ranks@0.service"));
  for (const char* path : {"", "/hai", "hai/", "a//b", "..", "a/../b", "a b", "a\nb"}) {
    EXPECT_FALSE(is_cgroup_path(path)) << path;
  }
}

TEST_F(RankEndTest, CgroupsAreMadeAndRemoved) {
  CgroupHost probe(find_cgroup_mounts(), "hai-test", "probe");
  const std::vector<std::string> groups =
      probe.create("1.1.0", {.cpus = 1, .memory_bytes = 256 << 20}).directories;
  if (groups.empty()) GTEST_SKIP() << "no usable cgroups";
  probe.remove_others({});
  EXPECT_FALSE(std::filesystem::exists(groups[0]));

  options_.cgroup_parent = "hai-test";
  start_host();
  LaunchRank job = script("cat /proc/self/cgroup; sleep 1000");
  job.cpus = 1;
  job.memory_bytes = 256 << 20;
  launch(job);
  ASSERT_TRUE(run_until([&] { return log_of(job.key).find("/hai-test/") != std::string::npos; }));
  host_->kill(job.key);
  wait_exited(job.key);
  for (const std::string& group : groups) {
    const std::filesystem::path parent = std::filesystem::path(group).parent_path();
    EXPECT_TRUE(poll([&] {
      for (const auto& entry : std::filesystem::directory_iterator(parent)) {
        if (entry.is_directory()) return false;
      }
      return true;
    })) << parent;
    std::filesystem::remove(parent);
  }
}

}  // namespace
}  // namespace hai
