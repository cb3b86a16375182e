#pragma once
// Which process holds the lease, exactly enough that its successor on the same machine can tell
// that it is dead and need not wait for the lease to end.

#include <string>
#include <string_view>

namespace hai {

struct ProcessIdentity {
  std::string holder;   // for people: "host:pid"
  std::string process;  // "boot id/pid namespace/pid/start time"
};

ProcessIdentity this_process();

// True only if `process` ran in this boot of this machine, in the same pid namespace, and no longer
// does. False for what cannot be known.
bool is_surely_dead(std::string_view process);

}  // namespace hai
