#include "agent/shim/user_identity.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/uid_min.h"

namespace hai {

namespace {

constexpr size_t kBufferBytes = 64 << 10;
constexpr int kGroupsMax = 65536;  // the kernel's NGROUPS_MAX

void fill(const passwd& entry, UserIdentity& out) {
  out.uid = entry.pw_uid;
  out.gid = entry.pw_gid;
  out.home = entry.pw_dir;
  out.shell = entry.pw_shell;
}

void fill_groups(const passwd& entry, UserIdentity& out) {
  int count = 64;
  out.groups.resize(static_cast<size_t>(count));
  while (::getgrouplist(entry.pw_name, entry.pw_gid, out.groups.data(), &count) < 0 &&
         count <= kGroupsMax) {
    out.groups.resize(static_cast<size_t>(count));
  }
  out.groups.resize(static_cast<size_t>(count));
}

struct Account {
  UserIdentity identity;
  std::string name;
};

Account self() {
  Account account = {
      .identity = {.uid = ::geteuid(), .gid = ::getegid(), .home = "/", .shell = "/bin/sh"},
      .name = std::to_string(::geteuid())};
  std::vector<char> buffer(kBufferBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    fill(*found, account.identity);
    account.identity.gid = ::getegid();
    account.name = found->pw_name;
  }
  return account;
}

bool is_listed(const std::string& name, const UserRules& rules) {
  return std::ranges::find(rules.system_users, name) != rules.system_users.end();
}

// A node without the user, whose jobs may run as the agent.
Result<UserIdentity> stand_in(const std::string& name, const UserRules& rules) {
  const Account account = self();
  if (account.identity.uid >= rules.uid_min || is_listed(account.name, rules))
    return account.identity;
  return permission_denied(
      "user {} does not exist on this node, and confinement.system_users of its agent does not "
      "list {} (uid {}), as whom the agent runs",
      name, account.name, account.identity.uid);
}

}  // namespace

Result<UserIdentity> find_user(const std::string& name, const UserRules& rules) {
  if (::geteuid() != 0) return self().identity;
  std::vector<char> buffer(kBufferBytes);
  passwd entry{};
  passwd* found = nullptr;
  const int error = ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    if (rules.unknown_runs_as_self) return stand_in(name, rules);
    if (error != 0 && error != ENOENT && error != ESRCH) {
      return unavailable("cannot look up user {} on this node: error {}", name, error);
    }
    return not_found(
        "user {} does not exist on this node; create it, or fix the node's user directory", name);
  }
  if (found->pw_uid < rules.uid_min && !is_listed(found->pw_name, rules)) {
    return permission_denied(
        "user {} is one of the system (uid {}, below UID_MIN {}), and confinement.system_users of "
        "the node's agent does not list it",
        name, found->pw_uid, rules.uid_min);
  }
  UserIdentity identity;
  identity.switch_user = true;
  fill(*found, identity);
  fill_groups(*found, identity);
  return identity;
}

uid_t read_uid_min(const std::string& path) { return uid_min_of(path); }

}  // namespace hai
