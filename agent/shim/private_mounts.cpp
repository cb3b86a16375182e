#include "agent/shim/private_mounts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "agent/shim/image_root.h"
#include "agent/shim/mount_tree.h"
#include "common/check.h"

namespace hai {

namespace {

constexpr const char* kOwnNamespace = "/proc/self/ns/mnt";

Result<std::vector<MountTree>> detach_kept(const std::vector<std::string>& paths,
                                           const UserIdentity& user) {
  std::vector<MountTree> kept;
  {
    const ActingAs acting(user);
    for (const std::string& path : paths) {
      UniqueFd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (folder.is_open()) kept.push_back({.to = path, .tree = std::move(folder)});
    }
  }
  for (MountTree& folder : kept) RETURN_IF_ERROR(detach_mount(folder));
  return kept;
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

constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;

Status mount_shared_memory(const std::string& options) {
  if (::mount("tmpfs", "/dev/shm", "tmpfs", kPlain, options.c_str()) != 0)
    return mounts_failed("/dev/shm");
  return ok();
}

Status mount_processes() {
  if (::mount("proc", "/proc", "proc", kPlain | MS_NOEXEC, "hidepid=invisible") != 0)
    return mounts_failed("/proc");
  return ok();
}

// In the new namespace.
Status mount_over_machine(const PrivateMountPlan& plan, const std::vector<MountTree>& kept) {
  RETURN_IF_ERROR(mount_shared_memory(options_of_shared_memory()));
  const unsigned long as_its_disk = MS_BIND | MS_REMOUNT | kPlain | no_programs(plan.temp_dir);
  if (::mount(plan.temp_dir.c_str(), "/tmp", nullptr, MS_BIND, nullptr) != 0 ||
      ::mount(nullptr, "/tmp", nullptr, as_its_disk, nullptr) != 0)
    return mounts_failed("/tmp");
  if (!hide_services()) return mounts_failed("the services' sockets");
  for (const MountTree& folder : kept) {
    make_place(folder);
    RETURN_IF_ERROR(attach_mount(folder));
  }
  return mount_processes();
}

Status mount_image(const ImageRoot& image) {
  const std::string shared_memory = options_of_shared_memory();
  RETURN_IF_ERROR(image.enter());
  RETURN_IF_ERROR(mount_shared_memory(shared_memory));
  return mount_processes();
}

Status mount_all(const PrivateMountPlan& plan, const std::vector<MountTree>& kept,
                 const std::optional<ImageRoot>& image) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return mounts_failed("/");
  return image ? mount_image(*image) : mount_over_machine(plan, kept);
}

}  // namespace

// The user's own systemd, if he has one here, would start programs for him outside the rank; and by
// the system's bus he could have one started that outlives the job (logind's "linger").
bool hide_services() {
  for (const char* const folder : {"/run/user", "/run/dbus"}) {
    if (::access(folder, F_OK) == 0 &&
        ::mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0)
      return false;
  }
  return true;
}

Result<PrivateMounts> PrivateMounts::make(const PrivateMountPlan& plan, const UserIdentity& user) {
  std::vector<MountTree> kept;
  std::optional<ImageRoot> image;
  if (plan.image) {
    Result<ImageRoot> prepared = ImageRoot::prepare(*plan.image, plan.temp_dir, user);
    RETURN_IF_ERROR(prepared.status());
    image = std::move(prepared).value();
  } else {
    Result<std::vector<MountTree>> detached = detach_kept(plan.kept, user);
    RETURN_IF_ERROR(detached.status());
    kept = std::move(detached).value();
  }
  const UniqueFd home(::open(kOwnNamespace, O_RDONLY | O_CLOEXEC));
  // In an image /proc is what the image says until ours is mounted, and a moment later perhaps.
  const UniqueFd own(::open("/proc/self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!home.is_open() || !own.is_open() || ::unshare(CLONE_NEWNS) != 0)
    return mounts_failed("a namespace");
  const Status mounted = mount_all(plan, kept, image);
  PrivateMounts mounts;
  mounts.namespace_ = UniqueFd(::openat(own.get(), "mnt", O_RDONLY | O_CLOEXEC));
  // The shim itself stays where the machine's folders are: it keeps the rank's files.
  CHECK(::setns(home.get(), CLONE_NEWNS) == 0);
  RETURN_IF_ERROR(mounted);
  if (!mounts.namespace_.is_open()) return mounts_failed("its namespace");
  return mounts;
}

bool PrivateMounts::enter() const { return ::setns(namespace_.get(), CLONE_NEWNS) == 0; }

}  // namespace hai
