#include "agent/hang/hang_report.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "agent/os/process_table.h"
#include "tests/unit/agent/hang/stuck_process.h"

namespace hai {
namespace {

using test::StuckProcess;
using test::ToolFolder;
using test::wait_for_a_rank_that_never_comes;
using ::testing::HasSubstr;
using ::testing::Not;

HangReportOptions options_for(std::vector<pid_t> pids, const std::string& tool_path) {
  return {.pids = std::move(pids),
          .sys_root = "/nowhere",
          .nvml_library = "no-such-library.so",
          .tool_path = tool_path};
}

TEST(HangReport, NeedsNoTools) {
  const StuckProcess stuck(wait_for_a_rank_that_never_comes);
  const HangReport report = make_hang_report(options_for({stuck.pid()}, ""));
  EXPECT_THAT(report.text, HasSubstr("1 process\n"));
  EXPECT_THAT(report.text, HasSubstr("(no gdb on this node: no native stacks)\n"));
  EXPECT_THAT(report.text, HasSubstr(fmt::format("--- pid {} ", stuck.pid())));
  EXPECT_THAT(report.text, HasSubstr(fmt::format("  thread {} ", stuck.pid())));
  EXPECT_THAT(report.text, HasSubstr("S (sleeping)"));
  EXPECT_THAT(report.text, HasSubstr(fmt::format("system call {}", SYS_futex)));
  EXPECT_THAT(report.summary, HasSubstr(fmt::format("({}) S", stuck.pid())));
  EXPECT_THAT(report.summary, Not(HasSubstr("\n")));
}

// As on a node with GPUs, where a library's idle threads would fill pages.
TEST(HangReport, SaysOnceWhereThreadsStandTogether) {
  const StuckProcess stuck([](int ready) {
    for (int i = 0; i < 5; ++i) std::thread([] { ::pause(); }).detach();
    (void)!::write(ready, "x", 1);
    ::pause();
  });
  // Until all of them wait in pause(): a thread that has just begun stands elsewhere.
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  do {
    text = read_kernel_stacks("/proc", stuck.pid());
  } while (std::ranges::count(text.substr(0, text.find(':')), ',') != 5 &&
           std::chrono::steady_clock::now() < deadline);
  EXPECT_THAT(text, ::testing::StartsWith(fmt::format("  threads {}, ", stuck.pid())));
  EXPECT_EQ(std::ranges::count(text.substr(0, text.find(':')), ','), 5) << text;
}

TEST(HangReport, TellsWherePythonIs) {
  const ToolFolder tools;
  tools.add("py-spy", "echo 'Thread 1 (idle): \"MainThread\"'; echo '    barrier (train.py:80)'");
  tools.add("gdb", "echo; echo 'Thread 1 (LWP 1):'; echo '#0  0x1 in futex_wait ()'");
  const StuckProcess stuck([](int ready) {
    ::dup2(ready, 9);
    ::execlp("python3", "python3", "-c",
             "import os, threading\n"
             "lock = threading.Lock()\n"
             "lock.acquire()\n"
             "os.write(9, b'x')\n"
             "lock.acquire()\n",
             nullptr);
  });
  const HangReport report = make_hang_report(options_for({stuck.pid()}, tools.path()));
  EXPECT_THAT(report.summary, HasSubstr(" S in barrier (train.py:80)"));
  EXPECT_THAT(report.text, HasSubstr(", by py-spy\nThread 1 (idle)"));
  EXPECT_THAT(report.text, HasSubstr(", by gdb\n"));
  EXPECT_THAT(report.text, HasSubstr(", by the kernel\n"));
}

TEST(HangReport, IsBoundedWhateverTheToolsSay) {
  const ToolFolder tools;
  tools.add("gdb", "while :; do echo 0123456789012345678901234567890123456789; done");
  std::vector<std::unique_ptr<StuckProcess>> stuck;
  std::vector<pid_t> pids;
  for (int i = 0; i < 20; ++i) {
    stuck.push_back(std::make_unique<StuckProcess>(wait_for_a_rank_that_never_comes));
    pids.push_back(stuck.back()->pid());
  }
  const HangReport report = make_hang_report(options_for(pids, tools.path()));
  EXPECT_LE(report.text.size(), 64u << 10);
  EXPECT_LE(report.summary.size(), 500u);
  EXPECT_THAT(report.text, HasSubstr("20 processes\n"));
  EXPECT_THAT(report.text, HasSubstr("stacks of 4 more processes left out\n"));
  for (int i = 0; i < 16; ++i) {
    EXPECT_THAT(report.text, HasSubstr(fmt::format("--- pid {} ", pids[i])))
        << "the first must not leave no room for the last";
  }
}

// Twenty workers with more threads than the program itself: it comes first all the same.
TEST(HangReport, BeginsWithTheProgramItself) {
  const StuckProcess program([](int ready) {
    for (int i = 0; i < 20; ++i) {
      if (::fork() != 0) continue;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::thread([] { ::pause(); }).detach();
      while (true) ::pause();
    }
    wait_for_a_rank_that_never_comes(ready);
  });
  std::vector<pid_t> pids = descendants_of(program.pid());
  ASSERT_EQ(pids.size(), 20u);
  pids.push_back(program.pid());
  const HangReport report = make_hang_report(options_for(pids, ""));
  EXPECT_THAT(report.summary, HasSubstr(fmt::format("({}) S", program.pid())));
  const size_t first = report.text.find("--- pid ");
  EXPECT_EQ(report.text.find(fmt::format("--- pid {} ", program.pid())), first);
}

// Of a program with many threads the main one is told, however little room there is.
TEST(HangReport, KeepsTheMainThreadOfMany) {
  if (!test::has_gdb()) GTEST_SKIP() << "no gdb";
  const StuckProcess program([](int ready) {
    for (int i = 0; i < 40; ++i) std::thread([] { ::pause(); }).detach();
    wait_for_a_rank_that_never_comes(ready);
  });
  HangReportOptions options = options_for({program.pid()}, "/usr/bin");
  options.bytes_max = 8 << 10;
  options.tool_patience = 60s;
  options.patience = 120s;
  const HangReport report = make_hang_report(options);
  EXPECT_THAT(report.text, HasSubstr("wait_for_a_rank_that_never_comes"));
  EXPECT_LE(report.text.size(), options.bytes_max);
}

TEST(HangReport, KeepsItsOwnDeadline) {
  const ToolFolder tools;
  tools.add("gdb", "sleep 77");
  std::vector<std::unique_ptr<StuckProcess>> stuck;
  std::vector<pid_t> pids;
  for (int i = 0; i < 6; ++i) {
    stuck.push_back(std::make_unique<StuckProcess>(wait_for_a_rank_that_never_comes));
    pids.push_back(stuck.back()->pid());
  }
  HangReportOptions options = options_for(pids, tools.path());
  options.tool_patience = 300ms;
  options.patience = 500ms;
  const auto start = std::chrono::steady_clock::now();
  const HangReport report = make_hang_report(options);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s);
  EXPECT_THAT(report.text, HasSubstr("(gave up after "));
  EXPECT_THAT(report.text, HasSubstr(fmt::format("--- pid {} ", pids[5])))
      << "the kernel is asked for the last, too";
}

TEST(HangReport, SaysWhenNothingIsLeft) {
  const HangReport report = make_hang_report(options_for({999'999'999}, ""));
  EXPECT_EQ(report.summary, "no process is left");
  EXPECT_THAT(report.text, HasSubstr("0 processes\n"));
}

}  // namespace
}  // namespace hai
