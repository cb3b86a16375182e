#pragma once
// Signals to every process of the rank: all that descend from the shim (which is their subreaper,
// so none gets away by forking twice or making a session), and all in its cgroups.

#include <string>
#include <vector>

namespace hai {

void terminate_tree(const std::vector<std::string>& cgroups);
// One call may miss what is forked meanwhile: repeat until the shim has no child left.
void kill_tree(const std::vector<std::string>& cgroups);

}  // namespace hai
