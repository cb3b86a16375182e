#include "server/directory/group_roles.h"

#include <algorithm>

namespace hai {

Role role_of(const std::vector<std::string>& groups, const RoleGroups& lists, Role now) {
  const auto has = [&](const std::vector<std::string>& list, Role role) {
    if (list.empty()) return now == role;
    return std::ranges::find_first_of(groups, list) != groups.end();
  };
  if (has(lists.admin, Role::admin)) return Role::admin;
  if (has(lists.operators, Role::operator_)) return Role::operator_;
  return Role::user;
}

}  // namespace hai
