#pragma once
// All processes of one dev node: its agent, its shims, the ranks' processes and whatever those have
// started.

#include <optional>
#include <string>
#include <vector>

#include "cli/dev/process.h"

namespace hai::cli {

// `directory` is the node's data directory. Shims are found by their lock files (ranks/*/lock holds
// "PID STARTTIME"), what lives below them by parentage (a shim is the subreaper of its rank), and
// orphans of a dead shim by the log directory in their environment.
std::vector<ProcessId> find_node_processes(const std::string& directory,
                                           const std::optional<ProcessId>& agent);

// SIGKILL to all of them, after stopping them all so that none forks away meanwhile. False if some
// are left after `limit`.
bool kill_node_processes(const std::string& directory, const std::optional<ProcessId>& agent,
                         Duration limit);

}  // namespace hai::cli
