#include "agent/shim/cgroup_fork.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hai {

namespace {

bool add_self(int processes) { return ::write(processes, "0", 1) == 1; }

}  // namespace

CgroupFork::CgroupFork(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    UniqueFd processes(::open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!processes.is_open()) {
      has_all_ = false;
      continue;
    }
    const bool is_v2 = ::access((directory + "/cgroup.controllers").c_str(), F_OK) == 0;
    if (is_v2 && !unified_.is_open()) {
      unified_ = UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      unified_processes_ = std::move(processes);
    } else {
      processes_.push_back(std::move(processes));
    }
  }
}

pid_t CgroupFork::fork() {
  if (unified_.is_open()) {
    is_born_inside_ = true;  // Before, so that the child has it.
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<uint64_t>(unified_.get());
    const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid >= 0) return static_cast<pid_t>(pid);
  }
  is_born_inside_ = false;
  return ::fork();
}

bool CgroupFork::join() const {
  if (!is_born_inside_ && unified_processes_.is_open() && !add_self(unified_processes_.get()))
    return false;
  for (const UniqueFd& processes : processes_) {
    if (!add_self(processes.get())) return false;
  }
  return true;
}

}  // namespace hai
