#pragma once
// Whether logins may join the rank, as hai-pam reads it (agent/login). Shut by removing a file, so
// that it works on a full disk, and a rank whose door could not be opened takes nobody in.

#include <string>

#include "agent/os/rank_directory.h"
#include "common/status.h"

namespace hai {

// There while the door is open: the shim makes it when it starts and removes it before it ends the
// logins, so that no new ones come while it does.
inline std::string logins_file(const RankDirectory& directory) {
  return directory.path + "/takes_logins";
}

// internal if the file cannot be made or removed. To shut a door that is not open is ok.
Status open_to_logins(const RankDirectory& directory);
Status shut_to_logins(const RankDirectory& directory);

}  // namespace hai
