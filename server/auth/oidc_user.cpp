#include "server/auth/oidc_user.h"

#include <algorithm>
#include <set>

#include "common/text_check.h"

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

bool is_in(const std::vector<std::string>& groups, const std::set<std::string>& wanted) {
  return std::ranges::any_of(groups, [&](const std::string& group) {
    return wanted.contains(group) || wanted.contains(without_slash(group));
  });
}

Role role_of(const std::vector<std::string>& groups, const OidcConfig& config, Role now) {
  const auto has = [&](const std::vector<std::string>& lists, Role role) {
    if (lists.empty()) return now == role;
    return is_in(groups, {lists.begin(), lists.end()});
  };
  if (has(config.admin_groups, Role::admin)) return Role::admin;
  if (has(config.operator_groups, Role::operator_)) return Role::operator_;
  return Role::user;
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
  user.role = role_of(groups, config, user.role);
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
