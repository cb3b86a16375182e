#pragma once
// What a dev cluster is made of, remembered in DATA/cluster.json so that a restart uses the same
// ports, names and addresses. Processes are found by their pid files, not from here.

#include <map>
#include <string>
#include <vector>

#include "cli/dev/topology.h"
#include "common/status.h"

namespace hai::cli {

struct DevCluster {
  std::string name;
  int grpc_port = 0;
  int http_port = 0;
  std::string admin;  // the user who may do everything there
  std::string postgres_data;
  std::string postgres_socket;  // a directory
  std::string postgres_user;    // PostgreSQL runs as this user; "" = as we are
  std::vector<DevNode> nodes;
  std::map<std::string, std::string> knobs;  // of the server, where they differ from its defaults
  bool operator==(const DevCluster&) const = default;

  std::string grpc() const { return fmt::format("127.0.0.1:{}", grpc_port); }
  std::string http() const { return fmt::format("http://127.0.0.1:{}", http_port); }
};

std::string format_cluster(const DevCluster& cluster);
Result<DevCluster> parse_cluster(std::string_view json);

// not_found if there is no cluster in this directory.
Result<DevCluster> load_cluster(const std::string& data);

// A loopback address of its own for each node of each cluster: jobs of two clusters may use one
// MASTER_PORT.
std::string node_address(const std::string& data, size_t index);

}  // namespace hai::cli
