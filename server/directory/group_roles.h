#pragma once
// Which role somebody has by the groups that he is in elsewhere.

#include <string>
#include <vector>

#include "server/model/user.h"

namespace hai {

// Whose members have the role, and nobody else; an empty list = a role is as hai's administrators
// set it.
struct RoleGroups {
  std::vector<std::string> admin;
  std::vector<std::string> operators;
};

Role role_of(const std::vector<std::string>& groups, const RoleGroups& lists, Role now);

}  // namespace hai
