#pragma once
// Processes of a rank whose shim is dead. There are few ways to know them: they are in the rank's
// cgroups, and all were born with its HAI_SOCKET in their environment.

#include <string>
#include <vector>

namespace hai {

struct RankTraces {
  std::string job_socket;
  std::vector<std::string> cgroups;
};

// SIGKILL to all that are there. True means that there were none: the rank is gone. False also if
// nobody can be looked for now, for want of descriptors or memory.
bool kill_leftovers(const RankTraces& traces);

}  // namespace hai
