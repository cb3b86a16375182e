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

// Names of all groups that the account `user` is in. `named`: groups that exist as long as the
// directory answers; unavailable if one of them does not, for the name service does not tell an
// account that it cannot see from one that is not there, nor from one in no groups. not_found if
// there is no such account, and the directory answers. failed_precondition if he is one of the
// system's (below `uid_min`), whose groups say nothing of people, or if no group is named by which
// to tell that the directory answers.
Result<std::vector<std::string>> unix_groups_of(const std::string& user,
                                                const std::vector<std::string>& named,
                                                uid_t uid_min = kUidMin);

}  // namespace hai
