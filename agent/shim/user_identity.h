#pragma once
// Whom the program runs as, from the node's user database. Asking it can take long (LDAP): only the
// shim does.

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

struct UserIdentity {
  bool switch_user = false;  // false: the program runs as whoever the shim is
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::string home;
  std::string shell;
};

// Only root can switch. An unknown user is not_found, or the shim's own user if
// `unknown_runs_as_self`.
Result<UserIdentity> find_user(const std::string& name, bool unknown_runs_as_self);

}  // namespace hai
