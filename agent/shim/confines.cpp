#include "agent/shim/confines.h"

#include <sys/stat.h>

#include <cerrno>

#include "agent/os/cgroup.h"

namespace hai {

namespace {

// The folders that the platform and the site put into each image. An entrypoint's own folder is not
// among them: /usr/bin is to be the image's.
Result<ImageRootPlan> plan_image(const LaunchFile& launch, const UserIdentity& user,
                                 const RankDirectory& directory, const ImageFile& image) {
  ImageRootPlan plan{.folder = image.folder,
                     .is_of_user = image.lock.empty(),
                     .place = directory.image_place(),
                     .user = launch.user,
                     .folders = launch.images.mounts,
                     .devices = image.devices,
                     .mounts = {},
                     .allowed_mounts = launch.images.allowed_mounts,
                     .memory_bytes = memory_limit(launch.cgroups)};
  if (::mkdir(plan.place.c_str(), 0700) != 0 && errno != EEXIST) {
    return internal("cannot make {}: {}", plan.place, errno_text(errno));
  }
  plan.folders.insert(plan.folders.end(),
                      {launch.workspace, launch.log_dir, launch.socket_dir, user.home});
  for (const std::string& text : launch.program.mounts) {
    Result<ImageMount> mount = parse_mount(text);
    RETURN_IF_ERROR(mount.status());
    plan.mounts.push_back(std::move(mount).value());
  }
  return plan;
}

}  // namespace

Result<Confines> make_confines(const LaunchFile& launch, const UserIdentity& user,
                               const RankDirectory& directory, const ImageFile& image) {
  Confines confines;
  if (launch.confinement.has_own_mounts) {
    PrivateMountPlan plan{
        .temp_dir = launch.temp_dir, .kept = launch.confinement.kept_paths, .image = {}};
    if (!launch.image.empty()) {
      Result<ImageRootPlan> root = plan_image(launch, user, directory, image);
      RETURN_IF_ERROR(root.status());
      plan.image = std::move(root).value();
    }
    Result<PrivateMounts> mounts = PrivateMounts::make(plan, user);
    if (!mounts.is_ok()) return mounts.status();
    confines.mounts = std::move(mounts).value();
  }
  if (launch.confinement.drops_privileges) {
    Result<CallFilter> calls = CallFilter::make(launch.confinement.allowed_calls);
    if (!calls.is_ok()) return calls.status();
    confines.calls = std::move(calls).value();
  }
  return confines;
}

}  // namespace hai
