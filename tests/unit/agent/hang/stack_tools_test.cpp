#include "agent/hang/stack_tools.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "agent/os/cgroup.h"
#include "agent/os/confinement.h"
#include "tests/unit/agent/hang/stuck_process.h"

namespace hai {
namespace {

using test::StuckProcess;
using test::ToolFolder;
using test::wait_for_a_rank_that_never_comes;

TEST(StackTools, FindsTheTopFrames) {
  EXPECT_EQ(top_python_frame("Process 7: python train.py\nPython v3.11.7 (/usr/bin/python3)\n\n"
                             "Thread 9 (idle): \"loader\"\n    get (queue.py:171)\n"
                             "Thread 7 (idle): \"MainThread\"\n    barrier (train.py:80)\n"
                             "    main (train.py:99)\n"),
            "barrier (train.py:80)");
  EXPECT_EQ(top_python_frame("Process 7\nThread 7 (idle)\n    a (b.py:1)\n"), "a (b.py:1)");
  EXPECT_EQ(top_python_frame("Error: Permission denied"), "");
  EXPECT_EQ(top_native_frame("\nThread 2 (LWP 8):\n#0  0x1 in poll () from libc\n"
                             "\nThread 1 (LWP 7):\n#0  0x00007f in futex_wait (a=...) at x.c:1\n"),
            "futex_wait");
  EXPECT_EQ(top_native_frame("x\n\nThread 1 (LWP 7):\n#0  spin (n=3) at x.c:1\n"), "spin");
  EXPECT_EQ(top_native_frame("ptrace: Operation not permitted."), "");
  EXPECT_EQ(top_native_frame("\nThread 1 (LWP 7):"), "");
}

TEST(StackTools, AreLookedForInTheFoldersGiven) {
  const ToolFolder tools;
  const std::string gdb = tools.add("gdb", "");
  EXPECT_EQ(find_stack_tools("/nowhere:" + tools.path()).gdb, gdb);
  EXPECT_EQ(find_stack_tools(tools.path()).py_spy, "");
  EXPECT_EQ(find_stack_tools("").gdb, "");
}

TEST(StackTools, GdbNamesTheFunctionThatWaits) {
  if (!test::has_gdb()) GTEST_SKIP() << "no gdb";
  const StuckProcess stuck(wait_for_a_rank_that_never_comes);
  const auto stack = native_stack({.gdb = "/usr/bin/gdb"}, *read_brief("/proc", stuck.pid()),
                                  {.patience = 60s, .bytes_max = 64 << 10});
  ASSERT_TRUE(stack.has_value());
  EXPECT_NE(stack->text.find("wait_for_a_rank_that_never_comes"), std::string::npos) << stack->text;
  EXPECT_EQ(stack->top_frame, "syscall");
  EXPECT_TRUE(stuck.is_alive());
  EXPECT_EQ(stuck.state(), 'S') << "and it runs on";
}

// The worst a tool can do: it stops the process and never lets it go on.
// As ranks of a node with `isolation: strict` are: gdb, which runs as the rank's user, cannot enter
// the mounts, and looked for the program's files in vain.
TEST(StackTools, GdbFindsTheFilesOfAProcessWithMountsOfItsOwn) {
  if (!test::has_gdb() || ::geteuid() != 0) GTEST_SKIP() << "no gdb, or not root";
  if (!can_make_mounts()) GTEST_SKIP() << "no mounts here";
  const StuckProcess stuck([](int ready) {
    const bool is_ready = ::unshare(CLONE_NEWNS) == 0 && ::setgroups(0, nullptr) == 0 &&
                          ::setgid(65534) == 0 && ::setuid(65534) == 0;
    if (is_ready && ::write(ready, "x", 1) == 1) ::execl("/bin/sleep", "sleep", "1000", nullptr);
  });
  const auto brief = [&] { return read_brief("/proc", stuck.pid()); };
  for (int tries = 0; tries < 1000 && brief()->state != 'S'; ++tries) ::usleep(1'000);
  const auto stack =
      native_stack({.gdb = "/usr/bin/gdb"}, *brief(), {.patience = 60s, .bytes_max = 64 << 10});
  ASSERT_TRUE(stack.has_value());
  EXPECT_NE(stack->top_frame.find("sleep"), std::string::npos) << stack->text;
}

// The worst a tool can do: it stops the process and never lets it go on.
TEST(StackTools, AProcessRunsOnWhateverTheTool) {
  const ToolFolder tools;
  const std::string gdb = tools.add("gdb", "for last; do :; done; kill -STOP $last; sleep 77");
  const StuckProcess stuck(wait_for_a_rank_that_never_comes);
  const auto stack =
      native_stack({.gdb = gdb}, *read_brief("/proc", stuck.pid()), {.patience = 500ms});
  EXPECT_EQ(stack->text, "(gave up after 500ms)\n");
  for (int tries = 0; tries < 500 && stuck.state() != 'S'; ++tries) ::usleep(10'000);
  EXPECT_EQ(stuck.state(), 'S');
}

TEST(StackTools, AProcessThatWasStoppedStaysSo) {
  const ToolFolder tools;
  const std::string gdb = tools.add("gdb", "echo seen");
  const StuckProcess stuck(wait_for_a_rank_that_never_comes);
  ::kill(stuck.pid(), SIGSTOP);
  for (int tries = 0; tries < 500 && stuck.state() != 'T'; ++tries) ::usleep(10'000);
  const auto stack = native_stack({.gdb = gdb}, *read_brief("/proc", stuck.pid()), {});
  EXPECT_EQ(stack->text, "seen\n");
  EXPECT_EQ(stuck.state(), 'T');
}

// Attack: a rank is looked at, and another process of its user takes the tool over. It finds no
// more there than a program of the rank has.
TEST(StackTools, ThatTheRanksUserTakesOverGiveHimNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  if (!can_make_mounts()) GTEST_SKIP() << "no mounts here";
  // As a connection to another rank's shim is, if nobody takes care.
  const int inherited = ::fcntl(STDOUT_FILENO, F_DUPFD, 300);
  ASSERT_GE(inherited, 300);
  const ToolFolder tools;
  const std::string gdb = tools.add(
      "gdb",
      "id -u; id -g; id -G; cd /proc/self; cat cgroup; grep -E "
      "'^(NoNewPrivs|Seccomp|CapBnd|CapPrm):' status; cat "
      "oom_score_adj; ls /dev/shm | wc -l; [ -e /proc/1 ] && echo others; for f in fd/*; do echo "
      "$f; "
      "done; env | grep -v -E '^(PATH|PWD|OLDPWD|SHLVL|_)='");
  const StuckProcess stuck([](int ready) {
    const bool is_ready =
        ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0;
    if (is_ready && ::write(ready, "x", 1) == 1) ::execl("/bin/sleep", "sleep", "1000", nullptr);
  });
  const auto brief = [&] { return read_brief("/proc", stuck.pid()); };
  for (int tries = 0; tries < 1000 && brief()->state != 'S'; ++tries) ::usleep(1'000);
  ::setenv("HAI_TEST_SECRET", "secret", 1);
  CgroupHost host(find_cgroup_mounts(), "hai-test", "stack-tools");
  const RankCgroups cgroups = host.create(std::to_string(::getpid()), {.processes = 100});
  const auto stack = native_stack({.gdb = gdb, .cgroups = cgroups.directories}, *brief(), {});
  remove_cgroups(cgroups.directories);
  ::unsetenv("HAI_TEST_SECRET");
  ::close(inherited);
  ASSERT_TRUE(stack.has_value());
  const std::string& text = stack->text;
  EXPECT_TRUE(text.starts_with("65534\n65534\n65534\n")) << text;
  for (const std::string& group : cgroups.directories) {
    const std::string name = group.substr(group.rfind('/')) + "\n";
    EXPECT_NE(text.find(name), std::string::npos) << "it is not in the rank's groups: " << text;
  }
  EXPECT_NE(text.find("NoNewPrivs:\t1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Seccomp:\t2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("CapBnd:\t0000000000000000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("CapPrm:\t0000000000000000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n1000\n0\n"), std::string::npos) << "the first out of memory: " << text;
  EXPECT_EQ(text.find("others"), std::string::npos) << text;
  EXPECT_EQ(text.find(fmt::format("fd/{}\n", inherited)), std::string::npos) << text;
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
}

TEST(StackTools, PySpyIsForPythonOnly) {
  const ToolFolder tools;
  const StackTools found{.py_spy = tools.add("py-spy", "echo \"$@\"; exit 1")};
  EXPECT_EQ(python_stack(found, {.pid = 7, .name = "sh"}, {}), std::nullopt);
  const auto stack = python_stack(
      found, {.pid = 7, .name = "python3", .user = {::geteuid(), ::getegid()}, .is_python = true},
      {});
  EXPECT_EQ(stack->text, "dump --pid 7\n(exit code 1)\n");
  EXPECT_EQ(python_stack({}, {.pid = 7, .is_python = true}, {}), std::nullopt);
}

}  // namespace
}  // namespace hai
