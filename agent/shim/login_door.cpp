#include "agent/shim/login_door.h"

#include <unistd.h>

#include <cerrno>

#include "agent/os/files.h"

namespace hai {

// It need not survive a crash of the machine: the shim, without which nobody is let in, does not.
Status open_to_logins(const RankDirectory& directory) {
  return write_file_atomic(logins_file(directory), "", 0600, Durability::survives_crash_of_program);
}

Status shut_to_logins(const RankDirectory& directory) {
  const std::string path = logins_file(directory);
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return ok();
  return internal("cannot remove {}: {}", path, errno_text(errno));
}

}  // namespace hai
