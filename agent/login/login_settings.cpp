#include "agent/login/login_settings.h"

#include <grp.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>

namespace hai {

namespace {

constexpr size_t kBufferBytesMin = 16 << 10;
constexpr size_t kBufferBytesMax = 64 << 20;  // a group of very many members

std::optional<gid_t> group_id(const std::string& name) {
  for (size_t bytes = kBufferBytesMin; bytes <= kBufferBytesMax; bytes *= 4) {
    std::vector<char> buffer(bytes);
    group entry{};
    group* found = nullptr;
    const int error = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE) continue;
    if (found == nullptr) return std::nullopt;
    return found->gr_gid;
  }
  return std::nullopt;
}

bool contains(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

std::vector<std::string> unknown_groups(const std::vector<std::string>& groups) {
  std::vector<std::string> unknown;
  std::ranges::copy_if(groups, std::back_inserter(unknown),
                       [](const std::string& name) { return !group_id(name); });
  return unknown;
}

bool needs_no_job(const LoginUser& user, const LoginSettings& settings) {
  if (user.identity.uid == 0 || contains(settings.admin_users, user.name)) return true;
  return std::ranges::any_of(settings.admin_groups, [&](const std::string& name) {
    const std::optional<gid_t> gid = group_id(name);
    return gid && contains(user.identity.groups, *gid);
  });
}

}  // namespace hai
