#include "server/store/process_identity.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace hai {
namespace {

TEST(ProcessIdentity, KnowsTheLivingAndTheDead) {
  const std::string self = this_process().process;
  EXPECT_FALSE(is_surely_dead(self));
  EXPECT_FALSE(is_surely_dead(self + "/instance"));

  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string process = this_process().process;
    [[maybe_unused]] auto written = ::write(pipe_ends[1], process.data(), process.size());
    ::pause();
    ::_exit(0);
  }
  char text[512];
  const ssize_t size = ::read(pipe_ends[0], text, sizeof(text));
  ASSERT_GT(size, 0);
  const std::string theirs(text, static_cast<size_t>(size));
  EXPECT_FALSE(is_surely_dead(theirs));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_surely_dead(theirs));
}

// As where /proc is mounted with hidepid, or the unit's ProtectProc= hides them.
TEST(ProcessIdentity, TakesNobodyForDeadWhomItCannotSee) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root";
  const std::string self = this_process().process;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_ready = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("proc", "/proc", "proc", 0, "hidepid=2") == 0 &&
                          ::setgid(65534) == 0 && ::setuid(65534) == 0 &&
                          ::access(fmt::format("/proc/{}/stat", ::getppid()).c_str(), F_OK) != 0;
    ::_exit(!is_ready ? 2 : is_surely_dead(self) ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "/proc cannot be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ProcessIdentity, KnowsTheBootFromTheUnitAlso) {
  std::string self = this_process().process;
  EXPECT_EQ(self.find('-'), std::string::npos) << self << ": as systemd's %b, without hyphens";
  const std::string boot = self.substr(0, self.find('/'));
  EXPECT_EQ(boot.size(), 32u);
  std::string of_before = self;
  for (const size_t at : {20, 16, 12, 8}) of_before.insert(at, "-");
  EXPECT_FALSE(is_surely_dead(of_before));
  of_before.back() = of_before.back() == '0' ? '1' : '0';
  EXPECT_TRUE(is_surely_dead(of_before)) << "another process of before has this pid";
}

TEST(ProcessIdentity, JudgesOnlyItsOwnMachine) {
  EXPECT_FALSE(is_surely_dead(""));
  EXPECT_FALSE(is_surely_dead("another boot/pid:[1]/1/1"));
  const std::string self = this_process().process;
  const std::string boot = self.substr(0, self.find('/'));
  EXPECT_FALSE(is_surely_dead(boot + "/pid:[1]/999999999/1")) << "another pid namespace";
}

}  // namespace
}  // namespace hai
