#pragma once
// Programs that the agent's side runs as a rank's user: to look into his processes, or to read for
// him what he named. Whatever else runs as him may take them over (ptrace(2)), so they may do no
// more than a program of the rank.

#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/shim/call_filter.h"

namespace hai {

struct RankUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::vector<std::string> cgroups;  // of his rank: what runs for him is in them
};

// This process, for good: in the control groups, in a namespace of mounts without what users and
// the machine's services pass each other (/dev/shm, their sockets, others' processes), without
// privileges, under the filter. /tmp stays: files may lie there. As the first out of memory there.
// Nothing unless we are root. False, with errno, if the kernel refuses. For processes with one
// thread.
bool become_rank_user(const RankUser& user, const CallFilter& calls);

}  // namespace hai
