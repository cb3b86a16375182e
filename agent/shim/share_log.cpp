#include "agent/shim/share_log.h"

#include <endian.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/xattr.h>

#include <array>
#include <cerrno>

#include "common/unique_fd.h"

namespace hai {

namespace {

// As the kernel takes it. Its order is fixed: the owner, users, the group, the most that users and
// groups may, others.
struct AccessList {
  posix_acl_xattr_header header{.a_version = htole32(POSIX_ACL_XATTR_VERSION)};
  std::array<posix_acl_xattr_entry, 5> entries;
};
static_assert(sizeof(AccessList) == 44);  // no gaps

posix_acl_xattr_entry entry(uint16_t tag, uint16_t may, uint32_t id = ACL_UNDEFINED_ID) {
  return {.e_tag = htole16(tag), .e_perm = htole16(may), .e_id = htole32(id)};
}

AccessList readable_by(uid_t user) {
  constexpr uint16_t kAll = ACL_READ | ACL_WRITE | ACL_EXECUTE;
  constexpr uint16_t kLook = ACL_READ | ACL_EXECUTE;
  return {.entries = {entry(ACL_USER_OBJ, kAll), entry(ACL_USER, kLook, user),
                      entry(ACL_GROUP_OBJ, 0), entry(ACL_MASK, kLook), entry(ACL_OTHER, 0)}};
}

}  // namespace

Status share_log(const std::string& log_dir, uid_t user) {
  const AccessList list = readable_by(user);
  for (const char* name : {"system.posix_acl_access", "system.posix_acl_default"}) {
    if (::setxattr(log_dir.c_str(), name, &list, sizeof(list), 0) != 0) {
      return failed_precondition("cannot share log {}: {}", log_dir, errno_text(errno));
    }
  }
  return ok();
}

}  // namespace hai
