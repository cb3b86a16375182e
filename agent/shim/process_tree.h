#pragma once
// Signals to every process of the rank: all that descend from the shim (which is their subreaper,
// so none gets away by forking twice or making a session), and all in its cgroups.

#include <string>
#include <vector>

namespace hai {

void terminate_tree(const std::vector<std::string>& cgroups);
// Asks the programs to save and end, by a signal that most would die of: sent to those that catch
// it or, where none does, to all that do not ignore it. False if nobody was told.
bool tell_to_save(int signal);
// One call may miss what is forked meanwhile: repeat until the shim has no child left.
void kill_tree(const std::vector<std::string>& cgroups);

}  // namespace hai
