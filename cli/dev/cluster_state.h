#pragma once
// What a dev cluster is made of, remembered in DATA/cluster.json so that a restart uses the same
// ports, names and addresses. Processes are found by their pid files, not from here.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/dev/topology.h"
#include "common/status.h"

namespace hai::cli {

// All nodes in one process, their ranks timers.
struct DevFleet {
  FabricShape shape = FabricShape::two_zone;
  double rank_seconds = 0;  // 0 = programs other than sleep run until told to end
  bool operator==(const DevFleet&) const = default;
};

struct DevCluster {
  std::string name;
  int grpc_port = 0;
  int http_port = 0;
  int services_port = 0;   // 0 = none yet
  bool is_secure = false;  // TLS on both ports, a certificate for each agent
  std::string admin;       // the user who may do everything there
  std::string postgres_data;
  std::string postgres_socket;  // a directory
  std::string postgres_user;    // PostgreSQL runs as this user; "" = as we are
  std::vector<DevNode> nodes;
  std::optional<DevFleet> fleet;
  std::map<std::string, std::string> knobs;  // of the server, where they differ from its defaults
  // Where agents look instead of at this machine, by option and node: "kmsg", "kmsg node-2".
  std::map<std::string, std::string> health_roots;
  // YAML that an agent's config ends with, by node; "" = of all that have none of their own.
  std::map<std::string, std::string> agent_settings;
  bool operator==(const DevCluster&) const = default;

  std::string grpc() const { return fmt::format("127.0.0.1:{}", grpc_port); }
  std::string http() const {
    return fmt::format("{}://127.0.0.1:{}", is_secure ? "https" : "http", http_port);
  }
};

std::string format_cluster(const DevCluster& cluster);
Result<DevCluster> parse_cluster(std::string_view json);

// not_found if there is no cluster in this directory.
Result<DevCluster> load_cluster(const std::string& data);

// A loopback address of its own for each node of each cluster: jobs of two clusters may use one
// MASTER_PORT.
std::string node_address(const std::string& data, size_t index);

}  // namespace hai::cli
