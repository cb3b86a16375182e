#include "common/machine/bounded_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

namespace hai {
namespace {

TEST(BoundedChild, GivesWhatItSaysAndHowItEnds) {
  const ChildOutput output = run_command({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, {});
  EXPECT_EQ(output.text, "out\nerr\n");
  EXPECT_EQ(output.exit_code, 3);
  EXPECT_FALSE(output.is_late || output.is_truncated);
  EXPECT_EQ(run_command({"/no/such/program"}, {}).exit_code, 127);
}

TEST(BoundedChild, EndsAtTheDeadlineWithAllItStarted) {
  const auto start = std::chrono::steady_clock::now();
  const ChildOutput output =
      run_command({"/bin/sh", "-c", "sleep 77 & echo $!; sleep 77"}, {.patience = 300ms});
  EXPECT_TRUE(output.is_late);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  const pid_t grandchild = std::stoi(output.text);
  // Killed; who inherits it reaps it soon.
  for (int tries = 0; tries < 1000 && ::kill(grandchild, 0) == 0; ++tries) ::usleep(10'000);
  EXPECT_NE(::kill(grandchild, 0), 0);
}

TEST(BoundedChild, EndsOneThatClosedItsOutputButRunsOn) {
  const ChildOutput output =
      run_command({"/bin/sh", "-c", "exec >&- 2>&-; sleep 77"}, {.patience = 300ms});
  EXPECT_TRUE(output.is_late);
  EXPECT_EQ(output.text, "");
}

TEST(BoundedChild, IsCutWhenItTalksWithoutEnd) {
  const ChildOutput output = run_command({"/bin/sh", "-c", "while :; do echo talk; done"},
                                         {.patience = 30s, .bytes_max = 1000});
  EXPECT_TRUE(output.is_truncated);
  EXPECT_FALSE(output.is_late);
  EXPECT_EQ(output.text.size(), 1000u);
}

TEST(BoundedChild, InheritsNothingThatIsOpen) {
  const int inherited = ::fcntl(STDOUT_FILENO, F_DUPFD, 300);
  ASSERT_GE(inherited, 300);
  const ChildOutput output =
      run_command({"/bin/sh", "-c", "for f in /proc/self/fd/*; do echo $f; done"}, {});
  ::close(inherited);
  EXPECT_NE(output.text.find("/fd/1\n"), std::string::npos) << output.text;
  EXPECT_EQ(output.text.find("/fd/" + std::to_string(inherited) + "\n"), std::string::npos)
      << output.text;
}

}  // namespace
}  // namespace hai
