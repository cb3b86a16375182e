#pragma once
// fork() into the rank's cgroups. Moving a process into a group later makes the kernel wait for
// every processor (10 ms and more, for all who fork meanwhile too), so the child is born in the v2
// group where the kernel can do that.

#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/os/files.h"

namespace hai {

class CgroupFork {
 public:
  // What CgroupHost::create() gave; may be empty.
  explicit CgroupFork(const std::vector<std::string>& directories);

  // Whether all were there: outside of them the rank would have the whole machine.
  bool has_all() const { return has_all_; }
  // As fork(). The child must call join() before anything else, and may call nothing that
  // allocates.
  pid_t fork();
  // The groups it was not born in. False, with errno, if that fails.
  bool join() const;

 private:
  UniqueFd unified_;                 // directory of the v2 group
  UniqueFd unified_processes_;       // its cgroup.procs, for kernels before 5.7
  std::vector<UniqueFd> processes_;  // cgroup.procs of the v1 groups
  bool is_born_inside_ = false;
  bool has_all_ = true;
};

}  // namespace hai
