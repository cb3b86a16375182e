#include "agent/image/launch_look.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/shim/image_root.h"
#include "common/image.h"

namespace hai {
namespace {

// What skopeo reads first.
std::string file_of(const ImageName& image) {
  const std::string path = image.name.substr(0, image.name.find(':'));
  return image.kind == ImageName::Kind::layout ? path + "/index.json" : path;
}

Status look_at_file(const ImageName& image, const std::string& user, const UserIdentity& identity) {
  const ActingAs acting(identity);
  const std::string file = file_of(image);
  if (::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) == 0) return ok();
  return invalid_argument("image {}: {}: {}, for user {} on this node", to_string(image), file,
                          errno_text(errno), user);
}

}  // namespace

Status look_before_launch(const LaunchLook& look) {
  const Result<UserIdentity> user =
      find_user(look.user, {.system_users = look.system_users, .uid_min = read_uid_min()});
  if (!user.is_ok() || !user.value().switch_user) return ok();
  const Result<ImageName> image = parse_image(look.image);
  RETURN_IF_ERROR(image.status());
  const ImageName::Kind kind = image.value().kind;
  ImageRootPlan plan{.is_of_user = kind == ImageName::Kind::root_folder, .user = look.user};
  plan.allowed_mounts = look.allowed;
  if (plan.is_of_user) {
    plan.folder = image.value().name;
  } else if (kind != ImageName::Kind::registry) {
    RETURN_IF_ERROR(look_at_file(image.value(), look.user, user.value()));
  }
  for (const std::string& text : look.mounts) {
    const Result<ImageMount> mount = parse_mount(text);
    RETURN_IF_ERROR(mount.status());
    plan.mounts.push_back(mount.value());
  }
  return ImageRoot::look(plan, user.value());
}

}  // namespace hai
