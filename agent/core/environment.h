#pragma once
// The environment variables a job's program sees (docs/contract.md, What a job sees). Pure:
// everything comes from the launch order and the paths of this node. What only the node's user
// database knows (HOME, SHELL, the user id) is added by the shim.

#include <map>
#include <string>

#include "common/agent_messages.h"

namespace hai {

using Environment = std::map<std::string, std::string>;

// Where things of one rank are on this node.
struct LocalPaths {
  std::string socket;      // HAI_SOCKET: the shim's socket for the program
  std::string log_dir;     // HAI_LOG_DIR
  std::string temp_dir;    // TMPDIR, private to the rank
  std::string python_dir;  // where the Python modules hai and hfai are; "" = installed system-wide
  Environment base;        // lowest layer, e.g. PATH and LANG of the node
};

// Processes of one rank: one, or one per GPU.
int process_count(const LaunchRank& order);

// What the job has set last, or what its file begins with: "" if neither.
std::string life_state_of(const LaunchRank& order);

// Of the process with this index, 0 <= process < process_count(order). Layers, later wins: base,
// hai's, the user's; only HAI_SOCKET can't be changed by the user, because leftovers of a lost rank
// are found by it.
Environment build_environment(const LaunchRank& order, const LocalPaths& paths, int process = 0);

}  // namespace hai
