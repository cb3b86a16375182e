#pragma once
// What a launch gets of its user's secrets when it leaves for the node, and at no time before:
// until then an order has their names only.

#include "common/agent_messages.h"
#include "server/auth/seal.h"
#include "server/model/cluster_state.h"

namespace hai {

inline constexpr size_t kSecretBytesMax = 65'536;
// Of all secrets of a job: they share the room for arguments and environment that a kernel gives.
inline constexpr size_t kLaunchSecretBytesMax = 1 << 20;

// What a secret is sealed for; no name has a slash.
std::string seal_name(const std::string& user, const std::string& name);

// Moves the secrets' values into the order's environments, and opens what is sealed there. If one
// is not there or does not open, none is: then the order is such that the agent does not start it
// and says why.
void open_secrets(const ClusterState& state, const Sealer* sealer, LaunchRank& order);
// Overwrites the values of these variables, and whatever else the order was given.
void wipe_environments(LaunchRank& order);

}  // namespace hai
