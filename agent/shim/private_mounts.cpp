#include "agent/shim/private_mounts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/check.h"

namespace hai {

namespace {

constexpr const char* kOwnNamespace = "/proc/self/ns/mnt";
constexpr const char* kUserServices = "/run/user";

struct KeptFolder {
  std::string path;
  UniqueFd tree;  // first the folder itself, then a mount of it that is nowhere yet
};

// Opens with this user's rights, as long as it lives.
class ActingAs {
 public:
  explicit ActingAs(const UserIdentity& user) : is_other_(user.switch_user && user.uid != 0) {
    if (!is_other_) return;
    groups_.resize(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
    CHECK(::getgroups(static_cast<int>(groups_.size()), groups_.data()) >= 0);
    CHECK(::setgroups(user.groups.size(), user.groups.data()) == 0);
    CHECK(::setegid(user.gid) == 0 && ::seteuid(user.uid) == 0);
  }
  ~ActingAs() {
    if (!is_other_) return;
    CHECK(::seteuid(0) == 0 && ::setegid(0) == 0);
    CHECK(::setgroups(groups_.size(), groups_.data()) == 0);
  }
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  bool is_other_;
  std::vector<gid_t> groups_;
};

Status failed(const char* what) {
  return internal("cannot give the rank mounts of its own: {}: {}", what, errno_text(errno));
}

Result<std::vector<KeptFolder>> detach(const std::vector<std::string>& paths,
                                       const UserIdentity& user) {
  std::vector<KeptFolder> kept;
  {
    const ActingAs acting(user);
    for (const std::string& path : paths) {
      UniqueFd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (folder.is_open()) kept.push_back({path, std::move(folder)});
    }
  }
  for (KeptFolder& folder : kept) {
    folder.tree = UniqueFd(::open_tree(
        folder.tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
    if (!folder.tree.is_open()) return failed(folder.path.c_str());
  }
  return kept;
}

Status attach(const std::vector<KeptFolder>& kept) {
  for (const KeptFolder& folder : kept) {
    std::error_code error;
    std::filesystem::create_directories(folder.path, error);
    if (::move_mount(folder.tree.get(), "", AT_FDCWD, folder.path.c_str(),
                     MOVE_MOUNT_F_EMPTY_PATH) != 0)
      return failed(folder.path.c_str());
    // Its copy would hand on to the machine what is mounted in it.
    if (::mount(nullptr, folder.path.c_str(), nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
      return failed(folder.path.c_str());
  }
  return ok();
}

// As large as the machine's: a site that made it larger has programs that need it.
std::string options_of_shared_memory() {
  struct statvfs info {};
  if (::statvfs("/dev/shm", &info) != 0) return "mode=1777";
  return fmt::format("mode=1777,size={}", uint64_t{info.f_blocks} * info.f_frsize);
}

// MS_NOEXEC where the file system of `path` is mounted so: a new mount of it would forget that.
unsigned long no_programs(const std::string& path) {
  struct statvfs info {};
  return ::statvfs(path.c_str(), &info) == 0 && (info.f_flag & ST_NOEXEC) != 0 ? MS_NOEXEC : 0;
}

// In the new namespace.
Status mount_all(const PrivateMountPlan& plan, const std::vector<KeptFolder>& kept) {
  constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return failed("/");
  const std::string options = options_of_shared_memory();
  if (::mount("tmpfs", "/dev/shm", "tmpfs", kPlain, options.c_str()) != 0)
    return failed("/dev/shm");
  const unsigned long as_its_disk = MS_BIND | MS_REMOUNT | kPlain | no_programs(plan.temp_dir);
  if (::mount(plan.temp_dir.c_str(), "/tmp", nullptr, MS_BIND, nullptr) != 0 ||
      ::mount(nullptr, "/tmp", nullptr, as_its_disk, nullptr) != 0)
    return failed("/tmp");
  // Else the user's own systemd, if he has one here, starts programs outside the rank for him.
  if (::access(kUserServices, F_OK) == 0 &&
      ::mount("tmpfs", kUserServices, "tmpfs", kPlain, "mode=755") != 0)
    return failed(kUserServices);
  RETURN_IF_ERROR(attach(kept));
  if (::mount("proc", "/proc", "proc", kPlain | MS_NOEXEC, "hidepid=invisible") != 0)
    return failed("/proc");
  return ok();
}

}  // namespace

Result<PrivateMounts> PrivateMounts::make(const PrivateMountPlan& plan, const UserIdentity& user) {
  const Result<std::vector<KeptFolder>> kept = detach(plan.kept, user);
  if (!kept.is_ok()) return kept.status();
  const UniqueFd home(::open(kOwnNamespace, O_RDONLY | O_CLOEXEC));
  if (!home.is_open() || ::unshare(CLONE_NEWNS) != 0) return failed("a namespace");
  const Status mounted = mount_all(plan, kept.value());
  PrivateMounts mounts;
  mounts.namespace_ = UniqueFd(::open(kOwnNamespace, O_RDONLY | O_CLOEXEC));
  // The shim itself stays where the machine's folders are: it keeps the rank's files.
  CHECK(::setns(home.get(), CLONE_NEWNS) == 0);
  RETURN_IF_ERROR(mounted);
  if (!mounts.namespace_.is_open()) return failed("its namespace");
  return mounts;
}

bool PrivateMounts::enter() const { return ::setns(namespace_.get(), CLONE_NEWNS) == 0; }

}  // namespace hai
