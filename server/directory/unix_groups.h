#pragma once
// What the groups of somebody's Unix account are here: the section `unix_groups` of the server's
// config.

#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"
#include "server/directory/group_roles.h"
#include "server/model/user.h"

namespace hai {

struct UnixGroupsConfig {
  // Which groups of Unix are groups of hai, as patterns of a shell: "proj-*". The others, such as
  // one that everybody is in, say nothing of who works with whom.
  std::vector<std::string> groups;
  RoleGroups roles;
  Duration every = 10min;  // people are looked at again

  bool is_used() const {
    return !groups.empty() || !roles.admin.empty() || !roles.operators.empty();
  }
  // Those that are there as long as the directory that knows them answers: named in full.
  std::vector<std::string> named() const;
};

// The account as it should be from now on. Of the user's groups those that match a pattern become
// those of the Unix account, 64 of them at most; others, which were given by hand, stay.
User with_unix_groups(const std::vector<std::string>& unix_groups, const UnixGroupsConfig& config,
                      User user);

}  // namespace hai
