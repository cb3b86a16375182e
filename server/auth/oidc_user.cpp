#include "server/auth/oidc_user.h"

#include <algorithm>
#include <set>

#include "common/text_check.h"
#include "server/directory/group_roles.h"

namespace hai {

namespace {

constexpr size_t kGroupsMax = 64;
constexpr size_t kNameMax = 128;

// Some providers tell groups as paths.
std::string without_slash(const std::string& group) {
  return group.starts_with('/') ? group.substr(1) : group;
}

bool is_name(const std::string& name) {
  const auto is_allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._-@+").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kNameMax && name.front() != '-' &&
         std::ranges::all_of(name, is_allowed);
}

}  // namespace

Status check_user_name(const Claims& claims, const OidcConfig& config) {
  if (is_name(claims.user)) return ok();
  return permission_denied("the identity provider says {} ({}), which is no name of a user here",
                           printable(std::string_view(claims.user).substr(0, kNameMax)),
                           config.user_claim);
}

User account_of(const Claims& claims, const OidcConfig& config, User user) {
  const std::vector<std::string> groups = claims.groups.value_or(std::vector<std::string>{});
  std::vector<std::string> either_way = groups;
  std::ranges::transform(groups, std::back_inserter(either_way), without_slash);
  user.role = role_of(
      either_way, {.admin = config.admin_groups, .operators = config.operator_groups}, user.role);
  if (!claims.groups) return user;
  std::set<std::string> names;
  for (const std::string& group : groups) {
    const std::string name = without_slash(group);
    if (is_name(name) && name != "public" && names.size() < kGroupsMax) names.insert(name);
  }
  user.groups.assign(names.begin(), names.end());
  return user;
}

}  // namespace hai
