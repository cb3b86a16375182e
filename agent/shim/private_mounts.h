#pragma once
// A rank's own view of the machine's folders: /tmp is its temporary directory, /dev/shm is new and
// empty, /proc shows the user's own processes only, and all else is the machine's, also what is
// mounted later. A job has one rank per node, so what its programs share through /dev/shm, such as
// NCCL's buffers, all of them see; it is gone with the last of them.
//
// A rank in a container image sees the image instead of the machine, and of that what image_root.h
// puts into it.

#include <optional>
#include <string>
#include <vector>

#include "agent/os/files.h"
#include "agent/shim/image_root.h"
#include "agent/shim/user_identity.h"
#include "common/status.h"

namespace hai {

struct PrivateMountPlan {
  std::string temp_dir;  // still root's, so that nobody puts links into it meanwhile
  std::vector<std::string>
      kept;  // folders below /tmp or /dev/shm, where they were; see paths_to_keep()
  std::optional<ImageRootPlan> image;
};

// In a new namespace of mounts, still as root: nobody reaches what starts programs for him.
// Allocates nothing. False, with errno, if the kernel refuses.
bool hide_services();

class PrivateMounts {
 public:
  // Folders to keep are opened as `user`: a mount would let him pass by what he may not enter.
  // Those that he cannot open are left out. invalid_argument: what the job asked for is not to be
  // had.
  static Result<PrivateMounts> make(const PrivateMountPlan& plan, const UserIdentity& user);

  // In a child, still as root; allocates nothing. False, with errno, if it fails.
  bool enter() const;

 private:
  UniqueFd namespace_;
};

}  // namespace hai
