#include "server/store/process_identity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(ProcessIdentity, JudgesOnlyItsOwnMachine) {
  EXPECT_FALSE(is_surely_dead(""));
  EXPECT_FALSE(is_surely_dead("another boot/pid:[1]/1/1"));
  const std::string self = this_process().process;
  const std::string boot = self.substr(0, self.find('/'));
  EXPECT_FALSE(is_surely_dead(boot + "/pid:[1]/999999999/1")) << "another pid namespace";
}

}  // namespace
}  // namespace hai
