#pragma once
// Folders and files of the machine that are put elsewhere in a rank's own mounts: first opened,
// with the rights of whoever asks for them, then copied as mounts that are nowhere yet, then
// attached.

#include <string>
#include <vector>

#include "agent/os/files.h"
#include "agent/shim/user_identity.h"
#include "common/status.h"

namespace hai {

// Opens with this user's rights, as long as it lives.
class ActingAs {
 public:
  explicit ActingAs(const UserIdentity& user);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  bool is_other_;
  std::vector<gid_t> groups_;
};

struct MountTree {
  std::string to;
  UniqueFd tree;  // first the folder itself, then a mount of it that is nowhere yet
  bool is_file = false;
  bool is_read_only = false;
  bool may_have_devices = true;  // and programs with their owners' rights, if it had them
};

// An O_PATH descriptor; not open, with errno, if this process may not.
UniqueFd open_place(const std::string& path);
// Where the descriptor is, in this process's mounts; "" if that is not known.
std::string place_of(const UniqueFd& fd);

// Turns what was opened into a mount with all that is mounted below it.
Status detach_mount(MountTree& mount);
// Makes what it is to be attached to, in folders where a file or folder of root's harms nobody.
void make_place(const MountTree& mount);
// At `to` of this process's mounts; not_found if there is no such place. Nothing that is mounted in
// it later goes back to the machine.
Status attach_mount(const MountTree& mount);

Status mounts_failed(const std::string& what);  // with errno

}  // namespace hai
