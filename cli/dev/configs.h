#pragma once
// The config files of server and agents of a dev cluster, as text.

#include <string>

#include "cli/dev/cluster_files.h"
#include "cli/dev/cluster_state.h"
#include "common/time.h"

namespace hai::cli {

// A person who kills a node wants to see it: faster than in production.
inline constexpr Duration kDevHeartbeat = 1s;
// A fleet is looked at for what a cluster of its size does, so at production's pace.
inline constexpr Duration kFleetHeartbeat = 5s;

// The pair of the server in the cluster's authority.
inline constexpr const char* kServerPair = "server-127.0.0.1";

std::string server_config(const ClusterFiles& files, const DevCluster& cluster,
                          const std::string& conninfo);
std::string agent_config(const ClusterFiles& files, const DevCluster& cluster, const DevNode& node,
                         const std::string& address);
std::string fleet_config(const ClusterFiles& files, const DevCluster& cluster);

}  // namespace hai::cli
