#include "agent/shim/user_identity.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

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

UserIdentity self() {
  UserIdentity identity = {.uid = ::geteuid(), .gid = ::getegid(), .home = "/", .shell = "/bin/sh"};
  std::vector<char> buffer(kBufferBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(identity.uid, &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    fill(*found, identity);
    identity.gid = ::getegid();
  }
  return identity;
}

}  // namespace

Result<UserIdentity> find_user(const std::string& name, bool unknown_runs_as_self) {
  if (::geteuid() != 0) return self();
  std::vector<char> buffer(kBufferBytes);
  passwd entry{};
  passwd* found = nullptr;
  const int error = ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    if (unknown_runs_as_self) return self();
    if (error != 0 && error != ENOENT && error != ESRCH) {
      return unavailable("cannot look up user {} on this node: error {}", name, error);
    }
    return not_found(
        "user {} does not exist on this node; create it, or fix the node's user directory", name);
  }
  UserIdentity identity;
  identity.switch_user = true;
  fill(*found, identity);
  fill_groups(*found, identity);
  return identity;
}

}  // namespace hai
