#pragma once
// Which accounts of a machine are people's, and which the system's.

#include <sys/types.h>

#include <string>

namespace hai {

constexpr uid_t kUidMin = 1000;  // Debian's

// UID_MIN of `login_defs`, below which uids are the system's; kUidMin if it does not say.
uid_t uid_min_of(const std::string& login_defs = "/etc/login.defs");

}  // namespace hai
