#pragma once
// Processes that hang, each in its own way, and tools that do what tools should not.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "agent/hang/proc_stacks.h"
#include "agent/health/file_values.h"

namespace hai::test {

// Ended with this object. The work tells by a byte that it has come to where it hangs.
class StuckProcess {
 public:
  explicit StuckProcess(const std::function<void(int)>& work) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      work(ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    for (int tries = 0; tries < 1000 && state() != 'S'; ++tries) ::usleep(1'000);
  }
  ~StuckProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  char state() const {
    const auto brief = read_brief("/proc", pid_);
    return brief ? brief->state : '?';
  }
  bool is_alive() const { return ::kill(pid_, 0) == 0; }

 private:
  pid_t pid_ = 0;
};

// Waits in a futex that nobody wakes. Not inlined: its name is looked for in the stack.
[[gnu::noinline]] inline void wait_for_a_rank_that_never_comes(int ready) {
  int never = 0;
  (void)!::write(ready, "x", 1);
  while (true) ::syscall(SYS_futex, &never, FUTEX_WAIT, 0, nullptr, nullptr, 0);
}

class ToolFolder {
 public:
  ToolFolder() {
    path_ = std::filesystem::temp_directory_path() / "hai-tools-XXXXXX";
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
    ::chmod(path_.c_str(), 0755);
  }
  ~ToolFolder() { std::filesystem::remove_all(path_); }
  std::string add(const std::string& name, const std::string& script) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    ::chmod(file.c_str(), 0755);
    return file;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline bool has_gdb() { return std::filesystem::exists("/usr/bin/gdb"); }

}  // namespace hai::test
