#pragma once
// Whom the program runs as, from the node's user database. Asking it can take long (LDAP): only the
// shim does.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

struct UserIdentity {
  bool switch_user = false;  // false: the program runs as whoever the shim is
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // all of them, gid among them
  std::string home;
  std::string shell;
};

struct UserRules {
  bool unknown_runs_as_self = false;
  std::vector<std::string> system_users;  // the only ones below uid_min that may run
  uid_t uid_min = 1000;
};

// Only root can switch: everybody else runs as the shim's own user. An unknown user is not_found,
// or the shim's own user if the rules say so; root and the other users of the system are
// permission_denied unless the rules list them.
Result<UserIdentity> find_user(const std::string& name, const UserRules& rules);

// UID_MIN of a login.defs, below which uids are the system's; 1000 if it does not say.
uid_t read_uid_min(const std::string& path = "/etc/login.defs");

}  // namespace hai
