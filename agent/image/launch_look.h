#pragma once
// Looks at what a job names by a path, as its user, before the job is queued: its image, and the
// folders of the node that it wants to see.

#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

struct LaunchLook {
  std::string user;
  std::string image;                      // common/image.h; one of a registry is not looked at
  std::vector<std::string> mounts;        // "FROM[:TO][:ro]"
  std::vector<std::string> allowed;       // folders in which those must be
  std::vector<std::string> system_users;  // may have jobs though their uid is the system's
};

// What would fail the launch on this node. ok() also for a user who is not known here, or is one of
// the system's: that is told at the launch.
Status look_before_launch(const LaunchLook& look);

}  // namespace hai
