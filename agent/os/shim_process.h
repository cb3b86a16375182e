#pragma once
// Starting a shim, and whether it lives. Its lock file (see RankDirectory) is locked before it is
// started and inherited by it, so that there is no moment in which a live shim looks dead, and no
// pid to be mistaken.

#include <sys/types.h>

#include <string>

#include "agent/os/rank_directory.h"
#include "common/status.h"

namespace hai {

// Descriptors a shim is born with: its lock, and its listening control socket.
inline constexpr int kShimLockFd = 3;
inline constexpr int kShimControlFd = 4;

// The directory must hold launch.json. The control socket is made here and inherited too, so that
// it can be connected at once. Returns the pid; the caller must reap it in the end.
Result<pid_t> start_shim(const std::string& shim_path, const RankDirectory& directory,
                         const std::string& control_path);

// Also true if that cannot be found out now.
bool is_shim_alive(const RankDirectory& directory);

// The shim's pid; 0 if it is dead or has not said yet.
pid_t shim_pid(const RankDirectory& directory);

// SIGKILL. Its rank's processes are leftovers then.
void kill_shim(const RankDirectory& directory);

// What the shim printed before it gave up, cut to its last line; "" if nothing.
std::string shim_complaint(const RankDirectory& directory);

// See helper_program().
std::string default_shim_path();
std::string default_validator_path();

}  // namespace hai
