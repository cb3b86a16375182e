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

// SIGKILL to all that are there; returns how many. 0 means that the rank is gone.
int kill_leftovers(const RankTraces& traces);

}  // namespace hai
