#pragma once
// Becomes a program beside those of a rank, for a person who is let into it: in its control groups
// and mounts, as its user, with its environment, without privileges, as they are. It is none of the
// shim's children: the rank does not wait for it, and it ends with the rank's control groups.

#include "agent/os/rank_directory.h"

namespace hai {

// In a process of its own that leads a session, with the descriptors of agent/os/shell_file.h.
// Returns an exit code only if the program could not be started.
int enter_rank(const RankDirectory& directory);

}  // namespace hai
