#pragma once
// Accounts of the machine, by its name service (NSS): those of /etc/passwd, and those of LDAP by
// SSSD or nslcd. Each call may take as long as the directory behind it: none is for the loop.

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/status.h"
#include "common/uid_min.h"

namespace hai {

// not_found if nobody has the uid; unavailable if the name service does not say.
Result<std::string> unix_name_of(uid_t uid);

// ok if the machine has all these groups; unavailable if it does not, or does not say.
Status check_unix_groups(const std::vector<std::string>& names);

// Names of all groups that the account `user` is in. not_found if there is no such account, or only
// one of the system's (below `uid_min`), whose groups say nothing of people. `named`: groups that
// exist as long as the directory answers; unavailable if one of them does not, for then those that
// he is in there would be missing, too: the name service does not tell that from an account in no
// groups.
Result<std::vector<std::string>> unix_groups_of(const std::string& user,
                                                const std::vector<std::string>& named,
                                                uid_t uid_min = kUidMin);

}  // namespace hai
