#pragma once
// Lets the user of a job read its log on the node.

#include <sys/types.h>

#include <string>

#include "common/status.h"

namespace hai {

// `user` alone, by an access control list: the groups he is in may have other members. He may not
// write there: the agent, which is root, must be able to trust what it finds. Files that are made
// in `log_dir` from now on are like it. failed_precondition on a file system without such lists:
// then he reads it by `hai logs`.
Status share_log(const std::string& log_dir, uid_t user);

}  // namespace hai
