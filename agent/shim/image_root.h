#pragma once
// The root folder of a rank that runs in a container image: the image, which nobody changes, under
// a layer in memory that is the rank's; and in it, of the machine, its devices, /sys, how it finds
// names, and the folders that the platform, the site and the job want there.

#include <cstdint>
#include <string>
#include <vector>

#include "agent/os/image_file.h"
#include "agent/shim/mount_tree.h"
#include "agent/shim/user_identity.h"
#include "common/image.h"
#include "common/status.h"

namespace hai {

struct ImageRootPlan {
  std::string folder;       // the image's root folder, on this machine
  bool is_of_user = false;  // he named the folder: it is opened as he
  std::string place;        // an empty folder of root's, on which the layers are mounted
  std::string user;         // his name, for /etc/passwd
  std::vector<std::string>
      folders;                     // at the same place in the image; left out if they are not there
  ImageDevices devices;            // of the rank's GPUs; opened as root, who says what is in them
  std::vector<ImageMount> mounts;  // of the job
  std::vector<std::string> allowed_mounts;  // folders in which those must be
  int64_t memory_bytes = 0;                 // of the rank; 0 = no limit that is known
};

class ImageRoot {
 public:
  // Opens everything, while the machine's folders are still there. invalid_argument: of the job's
  // mounts one is not there, not to be entered by the user, or not allowed here.
  static Result<ImageRoot> prepare(const ImageRootPlan& plan, const std::string& temp_dir,
                                   const UserIdentity& user);

  // The same of what the user or his job named, for a job that does not run yet: mounts nothing.
  static Status look(const ImageRootPlan& plan, const UserIdentity& user);

  // In a mount namespace of one's own: from now on / is the image.
  Status enter() const;

 private:
  Status mount_layers() const;
  void make_account() const;
  Status attach_all() const;

  std::string user_name_;
  UserIdentity user_;
  std::string place_;
  bool is_of_user_ = false;
  int64_t memory_bytes_ = 0;
  MountTree lower_;
  MountTree temp_;
  std::vector<ImageLink> links_;
  std::vector<MountTree> mounts_;  // what others are in comes first
};

}  // namespace hai
