#pragma once
// Decides about one login to this node (docs/operations/ssh.md): hai-pam asks twice, when the
// account is looked at and, for the job may have ended meanwhile, when the session begins. What is
// refused comes with a sentence for the one who is refused.

#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/login/live_ranks.h"
#include "agent/login/login_settings.h"

namespace hai {

// Of the live ranks those that the login may become part of, in their order; at least one.
// permission_denied if there is none.
Result<std::vector<LiveRank>> ranks_to_join(const LoginUser& user, const std::string& node,
                                            std::vector<LiveRank> live);

// Moves the process into the control groups of the first of them that still lives: from then on it,
// and what it starts, has that rank's limits and devices and ends with it. permission_denied if all
// have ended.
Result<LiveRank> join_rank(pid_t process, const std::string& node,
                           const std::vector<LiveRank>& ranks);

}  // namespace hai
