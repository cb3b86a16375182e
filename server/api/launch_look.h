#pragma once
// What a job names by a path, an image or folders to be mounted, is on the nodes, and the server
// does not see it. So before such a job is queued one of the nodes is asked, and nothing is
// suspended for a job that could not be launched. Pure; rpc/shells.h asks.

#include <functional>
#include <string>
#include <vector>

#include "server/model/cluster_state.h"

namespace hai {

// `done`: ok() also if the node could not be asked.
using AskNode = std::function<void(const std::string& node, const std::vector<std::string>& words,
                                   std::function<void(const Status&)> done)>;

bool wants_look(const JobSpec& spec);

// What `hai-image` is to be told there.
std::vector<std::string> words_of_look(const JobSpec& spec, const std::string& user);

// A node that the job may run on and that is up; "" if there is none.
std::string node_to_look_at(const ClusterState& state, const JobSpec& spec);

}  // namespace hai
