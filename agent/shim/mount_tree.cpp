#include "agent/shim/mount_tree.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/check.h"

namespace hai {

ActingAs::ActingAs(const UserIdentity& user) : is_other_(user.switch_user && user.uid != 0) {
  if (!is_other_) return;
  groups_.resize(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  CHECK(::getgroups(static_cast<int>(groups_.size()), groups_.data()) >= 0);
  CHECK(::setgroups(user.groups.size(), user.groups.data()) == 0);
  CHECK(::setegid(user.gid) == 0 && ::seteuid(user.uid) == 0);
}

ActingAs::~ActingAs() {
  if (!is_other_) return;
  CHECK(::seteuid(0) == 0 && ::setegid(0) == 0);
  CHECK(::setgroups(groups_.size(), groups_.data()) == 0);
}

Status mounts_failed(const std::string& what) {
  return internal("cannot give the rank mounts of its own: {}: {}", what, errno_text(errno));
}

UniqueFd open_place(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC));
}

std::string place_of(const UniqueFd& fd) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd.get()), error).string();
}

Status detach_mount(MountTree& mount) {
  struct stat info {};
  if (::fstat(mount.tree.get(), &info) != 0) return mounts_failed(mount.to);
  mount.is_file = !S_ISDIR(info.st_mode);
  constexpr unsigned kFlags = AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
  mount.tree = UniqueFd(::open_tree(mount.tree.get(), "", kFlags));
  return mount.tree.is_open() ? ok() : mounts_failed(mount.to);
}

void make_place(const MountTree& mount) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path to = mount.to;
  if (!mount.is_file) {
    fs::create_directories(to, ignored);
    return;
  }
  fs::create_directories(to.parent_path(), ignored);
  if (fs::is_symlink(fs::symlink_status(to, ignored))) fs::remove(to, ignored);
  UniqueFd(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
}

// Kernels before 5.12 have no mount_setattr, and ranks without an image do not need it.
Status attach_mount(const MountTree& mount) {
  mount_attr attributes{};
  attributes.propagation = MS_SLAVE;  // else it would hand on to the machine what is mounted in it
  if (mount.is_read_only) attributes.attr_set |= MOUNT_ATTR_RDONLY;
  if (!mount.may_have_devices) attributes.attr_set |= MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID;
  const bool is_set = ::mount_setattr(mount.tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE,
                                      &attributes, sizeof attributes) == 0;
  if (!is_set && (errno != ENOSYS || attributes.attr_set != 0)) return mounts_failed(mount.to);
  const char* to = mount.to.c_str();
  if (::move_mount(mount.tree.get(), "", AT_FDCWD, to,
                   MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return not_found("{}: {}", to, errno_text(errno));
    return mounts_failed(mount.to);
  }
  if (!is_set && ::mount(nullptr, to, nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return mounts_failed(mount.to);
  return ok();
}

}  // namespace hai
