#include "server/directory/unix_groups.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "common/account_name.h"

namespace hai {

namespace {

constexpr size_t kUnixGroupsMax = 64;

bool is_pattern(const std::string& text) { return text.find_first_of("*?[\\") != text.npos; }

bool matches(const std::string& group, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), group.c_str(), 0) == 0;
  });
}

}  // namespace

std::vector<std::string> UnixGroupsConfig::named() const {
  std::vector<std::string> names = roles.admin;
  names.insert(names.end(), roles.operators.begin(), roles.operators.end());
  std::ranges::remove_copy_if(groups, std::back_inserter(names), is_pattern);
  return names;
}

User with_unix_groups(const std::vector<std::string>& unix_groups, const UnixGroupsConfig& config,
                      User user) {
  user.role = role_of(unix_groups, config.roles, user.role);
  std::set<std::string> taken;
  for (const std::string& group : unix_groups) {
    if (matches(group, config.groups) && group != "public" &&
        check_account_name("group", group).is_ok()) {
      taken.insert(group);
    }
  }
  // The same ones each time, in whatever order the name service has them.
  while (taken.size() > kUnixGroupsMax) taken.erase(std::prev(taken.end()));
  std::vector<std::string> groups;
  for (const std::string& group : user.groups) {
    if (!matches(group, config.groups) || taken.erase(group) > 0) groups.push_back(group);
  }
  groups.insert(groups.end(), taken.begin(), taken.end());
  user.groups = std::move(groups);
  return user;
}

}  // namespace hai
