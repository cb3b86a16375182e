#pragma once
// What /proc says of a process that may hang: its state, and where in the kernel each thread waits.
// Only files that don't need the process's memory map, so that reading them never waits for it.

#include <sys/types.h>

#include <optional>
#include <string>

#include "common/machine/bounded_child.h"

namespace hai {

struct UserId {
  uid_t uid = 0;
  gid_t gid = 0;
  bool operator==(const UserId&) const = default;
};

struct ProcessBrief {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;
  char state = '?';  // as ps says it: R S D T …
  int threads = 0;
  std::string waits_in;  // kernel function of the main thread; "" = not known
  UserId user;
  bool is_python = false;
};

// None if it is gone.
std::optional<ProcessBrief> read_brief(const std::string& proc_root, pid_t pid);

// Each thread's name, state, system call and kernel stack, as far as we may read them.
std::string read_kernel_stacks(const std::string& proc_root, pid_t pid);

}  // namespace hai
