#include "agent/hang/evidence_run.h"
#include "agent/os/process_table.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include "tests/unit/agent/hang/stuck_process.h"

namespace hai {
namespace {

using test::StuckProcess;
using test::ToolFolder;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

MonoTime at(Duration since_start) { return MonoTime(since_start); }

// As the agent's loop does it, but with its clock standing still.
std::optional<HangEvidence> wait_for(EvidenceRun& run, MonoTime now) {
  for (int tries = 0; tries < 6'000; ++tries) {
    if (auto evidence = run.poll(now)) return evidence;
    ::usleep(10'000);
  }
  return std::nullopt;
}

// The process below a shim, and one below that.
TEST(EvidenceRun, LooksAtAllBelowTheShim) {
  const StuckProcess shim([](int ready) {
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // It must not outlive the test.
      test::wait_for_a_rank_that_never_comes(ready);
    }
    while (true) ::pause();
  });
  Result<EvidenceRun> run =
      EvidenceRun::start({.program = HAI_EVIDENCE_PROGRAM, .shim = shim.pid()}, at(0s));
  ASSERT_TRUE(run.is_ok()) << run.status().message();
  const auto evidence = wait_for(run.value(), at(0s));
  ASSERT_TRUE(evidence.has_value());
  EXPECT_THAT(evidence->text, StartsWith("1 process\n"));
  EXPECT_THAT(evidence->text, HasSubstr("by the kernel\n"));
  EXPECT_THAT(evidence->summary, HasSubstr(") S in "));
  if (test::has_gdb()) {
    EXPECT_THAT(evidence->text, HasSubstr("wait_for_a_rank_that_never_comes"));
  }
  EXPECT_EQ(run.value().poll(at(0s)), std::nullopt) << "only once";
}

// The agent's connections to the shims of all ranks are not closed by exec.
TEST(EvidenceRun, GivesTheHelperNothingThatIsOpen) {
  const int inherited = ::fcntl(STDOUT_FILENO, F_DUPFD, 300);
  ASSERT_GE(inherited, 300);
  const ToolFolder tools;
  const std::string helper =
      tools.add("helper", "echo files; for f in /proc/self/fd/*; do echo $f; done");
  Result<EvidenceRun> run = EvidenceRun::start({.program = helper}, at(0s));
  ::close(inherited);
  ASSERT_TRUE(run.is_ok());
  const auto evidence = wait_for(run.value(), at(0s));
  ASSERT_TRUE(evidence.has_value());
  EXPECT_THAT(evidence->text, HasSubstr("/fd/1\n"));
  EXPECT_THAT(evidence->text, Not(HasSubstr(fmt::format("/fd/{}\n", inherited))));
}

TEST(EvidenceRun, DoesNotWaitForAHelperThatHangs) {
  const ToolFolder tools;
  const std::string helper = tools.add("helper", "echo half of it; echo so far; sleep 77");
  Result<EvidenceRun> run = EvidenceRun::start({.program = helper, .patience = 45s}, at(100s));
  ASSERT_TRUE(run.is_ok());
  EXPECT_EQ(run.value().poll(at(145s)), std::nullopt);
  const auto evidence = run.value().poll(at(147s));
  ASSERT_TRUE(evidence.has_value());
  EXPECT_THAT(evidence->summary, HasSubstr("no evidence in time"));
}

TEST(EvidenceRun, BoundsWhatAHelperSays) {
  const ToolFolder tools;
  const std::string helper =
      tools.add("helper", "echo summary; while :; do echo 01234567890123456789; done");
  Result<EvidenceRun> run = EvidenceRun::start({.program = helper}, at(0s));
  ASSERT_TRUE(run.is_ok());
  const auto evidence = wait_for(run.value(), at(0s));
  ASSERT_TRUE(evidence.has_value());
  EXPECT_EQ(evidence->summary, "summary");
  EXPECT_LE(evidence->text.size(), kHangEvidenceBytesMax);
}

TEST(EvidenceRun, SaysWhenTheHelperIsNotThere) {
  const Result<EvidenceRun> run = EvidenceRun::start({.program = "/no/such/helper"}, at(0s));
  ASSERT_FALSE(run.is_ok());
  EXPECT_EQ(run.status().message(), "/no/such/helper: No such file or directory");
  const ToolFolder tools;
  Result<EvidenceRun> silent = EvidenceRun::start({.program = tools.add("x", "exit 1")}, at(0s));
  const auto evidence = wait_for(silent.value(), at(0s));
  ASSERT_TRUE(evidence.has_value());
  EXPECT_EQ(evidence->summary, "nothing was said of the processes");
}

TEST(EvidenceRun, TakesTheHelperWithIt) {
  const ToolFolder tools;
  const std::string mark = tools.path() + "/pid";
  const std::string helper = tools.add("helper", "echo $$ > " + mark + "; exec sleep 77");
  pid_t pid = 0;
  {
    Result<EvidenceRun> run = EvidenceRun::start({.program = helper}, at(0s));
    for (int tries = 0; tries < 1000 && pid == 0; ++tries) {
      ::usleep(10'000);
      pid = static_cast<pid_t>(read_integer(mark).value_or(0));
    }
    ASSERT_GT(pid, 0);
    EvidenceRun moved = std::move(run).value();
    EXPECT_EQ(::kill(pid, 0), 0) << "moving it ends nothing";
  }
  // The kernel may take its time on a busy machine; nobody waits for it.
  for (int tries = 0; tries < 1000 && is_process_alive(pid); ++tries) ::usleep(10'000);
  EXPECT_FALSE(is_process_alive(pid));
}

}  // namespace
}  // namespace hai
