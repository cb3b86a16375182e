// Emptying control groups when a rank ends. os_rank_end_test.cpp does it with real ones; here a
// plain directory with a list of processes plays one whose process does not go, whatever is sent to
// it.

#include "agent/shim/cgroup_remover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <optional>

#include "common/boot_clock.h"

namespace hai {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CgroupRemoverTest : public testing::Test {
 protected:
  CgroupRemoverTest() {
    std::string path = "/tmp/hai-test-XXXXXX";
    group_ = ::mkdtemp(path.data());
    child_ = ::fork();
    if (child_ == 0) {
      while (true) ::pause();
    }
  }
  ~CgroupRemoverTest() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    std::filesystem::remove_all(group_);
  }
  // Of the processes that are left; none if it has not come to an end.
  std::optional<std::vector<pid_t>> remove(Duration patience) {
    boost::asio::io_context context(1);
    CgroupRemover remover(context, {group_}, patience);
    std::optional<std::vector<pid_t>> out;
    remover.start([&](std::vector<pid_t> left) {
      out = std::move(left);
      context.stop();
    });
    if (!out) context.run_for(std::chrono::seconds(30));
    return out;
  }
  bool is_killed() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT) == 0 &&
           info.si_code == CLD_KILLED && info.si_status == SIGKILL;
  }

  std::string group_;
  pid_t child_ = 0;
};

TEST_F(CgroupRemoverTest, NobodyThereIsTheEndAtOnce) {
  EXPECT_THAT(remove(1h), testing::Optional(IsEmpty()));
  EXPECT_FALSE(std::filesystem::exists(group_));
}

TEST_F(CgroupRemoverTest, WhatDoesNotGoIsKilledAndNamedWhenPatienceHasRunOut) {
  std::ofstream(group_ + "/cgroup.procs") << child_ << '\n';
  const MonoTime began = boot_now();
  EXPECT_THAT(remove(300ms), testing::Optional(ElementsAre(child_)));
  EXPECT_GE(boot_now() - began, 300ms);
  EXPECT_TRUE(is_killed());
}

}  // namespace
}  // namespace hai
