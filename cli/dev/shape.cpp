#include "cli/dev/shape.h"

#include <algorithm>
#include <filesystem>

#include "cli/dev/configs.h"
#include "cli/dev/ports.h"
#include "cli/dev/topology.h"
#include "cli/file.h"
#include "cli/session.h"
#include "common/knobs.h"

namespace hai::cli {
namespace {

constexpr int kDefaultNodes = 4;
constexpr int kDefaultGpus = 8;

Result<std::vector<DevNode>> wanted_nodes(const DevUpOptions& options) {
  const int gpus = options.gpus.value_or(kDefaultGpus);
  if (options.topology.empty()) {
    return default_topology(options.nodes.value_or(kDefaultNodes), gpus);
  }
  if (const Result<FabricShape> shape = parse_fabric_shape(options.topology); shape.is_ok()) {
    return default_topology(options.nodes.value_or(kDefaultNodes), gpus, shape.value());
  }
  if (options.nodes) return invalid_argument("--nodes and --topology: the file names the nodes");
  const Result<std::string> text = read_file(options.topology);
  RETURN_IF_ERROR(text.status());
  Result<std::vector<DevNode>> nodes = parse_topology(text.value(), gpus);
  if (!nodes.is_ok()) {
    return invalid_argument("{}: {}", options.topology, nodes.status().message());
  }
  return nodes;
}

Result<DevFleet> wanted_fleet(const DevUpOptions& options) {
  if (options.nodes) return invalid_argument("--fleet and --nodes: a cluster has one or the other");
  DevFleet fleet{.rank_seconds = options.rank_seconds.value_or(0)};
  if (options.topology.empty()) return fleet;
  const Result<FabricShape> shape = parse_fabric_shape(options.topology);
  if (!shape.is_ok()) return invalid_argument("--fleet: {}", shape.status().message());
  fleet.shape = shape.value();
  return fleet;
}

Status set_nodes(const DevUpOptions& options, bool running, DevCluster& cluster) {
  const bool asks = options.nodes || options.gpus || options.fleet || !options.topology.empty();
  if (options.rank_seconds && !options.fleet) {
    return invalid_argument("--rank-seconds is for --fleet: other nodes run real programs");
  }
  if (!asks && !cluster.nodes.empty()) return ok();
  DevCluster wanted = cluster;
  wanted.fleet.reset();
  if (options.fleet) {
    const Result<DevFleet> fleet = wanted_fleet(options);
    RETURN_IF_ERROR(fleet.status());
    wanted.fleet = fleet.value();
    wanted.nodes =
        fleet_topology(*options.fleet, options.gpus.value_or(kDefaultGpus), wanted.fleet->shape);
  } else {
    const Result<std::vector<DevNode>> nodes = wanted_nodes(options);
    RETURN_IF_ERROR(nodes.status());
    wanted.nodes = nodes.value();
  }
  if (running && wanted != cluster) {
    return failed_precondition("cluster {} runs with {} other nodes: `hai dev down` first",
                               cluster.name, cluster.nodes.size());
  }
  cluster = std::move(wanted);
  return ok();
}

// The port that was asked for, which must be free; else the one used before, if it is free; else
// any.
Status choose_port(const char* option, int given, int other, int& port) {
  if (given != 0) port = given;
  if (port != 0 && is_free(port)) return ok();
  if (given != 0) return failed_precondition("{} {} is in use by another program", option, given);
  if (port != 0) say(fmt::format("port {} is taken by another program, using a new one", port));
  const Result<int> found = find_free_port(other);
  RETURN_IF_ERROR(found.status());
  port = found.value();
  return ok();
}

// Checked as the server would, before anything is started.
Status set_knobs(const std::vector<std::string>& given, bool is_fleet,
                 std::map<std::string, std::string>& knobs) {
  for (const std::string& each : given) {
    const size_t equals = each.find('=');
    if (equals == std::string::npos) {
      return invalid_argument("--knob {}: must be NAME=VALUE", each);
    }
    knobs[each.substr(0, equals)] = each.substr(equals + 1);
  }
  Knobs all;
  all.heartbeat = is_fleet ? kFleetHeartbeat : kDevHeartbeat;
  for (const auto& [name, value] : knobs) {
    if (Status status = set_knob(all, name, value); !status.is_ok()) {
      return invalid_argument("--knob: {}", status.message());
    }
  }
  return check_knobs(all);
}

struct NodePath {
  std::string node;  // "" = all
  std::string path;
};

// "PATH" or "NODE=PATH".
Result<NodePath> parse_node_path(const DevCluster& cluster, const std::string& option,
                                 const std::string& value) {
  const size_t equals = value.find('=');
  if (equals == 0) return invalid_argument("--{} {}: names no node", option, value);
  NodePath result{.path = value};
  if (equals != std::string::npos) result = {value.substr(0, equals), value.substr(equals + 1)};
  const bool is_known =
      result.node.empty() || std::ranges::any_of(cluster.nodes, [&](const DevNode& each) {
        return each.name == result.node;
      });
  if (!is_known) {
    return invalid_argument("--{} {}: there is no node {}", option, value, result.node);
  }
  if (result.path.empty()) return invalid_argument("--{} {}: names no path", option, value);
  return result;
}

// Paths as the agents see them: absolute.
Status set_health_roots(const DevUpOptions& options, DevCluster& cluster) {
  for (const auto& [option, values] : options.health_roots) {
    for (const std::string& value : values) {
      const Result<NodePath> given = parse_node_path(cluster, option, value);
      RETURN_IF_ERROR(given.status());
      const std::string& node = given.value().node;
      cluster.health_roots[node.empty() ? option : option + ' ' + node] =
          std::filesystem::absolute(given.value().path).string();
    }
  }
  return ok();
}

// Where the agent of the node looks for GPUs.
std::string proc_root_of(const DevCluster& cluster, const DevNode& node) {
  for (const std::string& key : {"proc-root " + node.name, std::string("proc-root")}) {
    const auto found = cluster.health_roots.find(key);
    if (found != cluster.health_roots.end()) return found->second;
  }
  return "/proc";
}

// A node that simulates none has the GPUs that are really there, and no other may have them too.
Status check_own_gpus(const DevCluster& cluster) {
  if (cluster.fleet) return ok();
  std::map<std::string, std::string> owners;  // root → node
  for (const DevNode& node : cluster.nodes) {
    const std::string root = proc_root_of(cluster, node);
    std::error_code error;
    if (node.gpus > 0 || !std::filesystem::exists(root + "/driver/nvidia/gpus", error)) continue;
    const auto [owner, is_first] = owners.emplace(root, node.name);
    if (is_first) continue;
    return invalid_argument(
        "{} and {} would have the same real GPUs: give --nodes 1, or --gpus to simulate some",
        owner->second, node.name);
  }
  return ok();
}

Status set_agent_settings(const DevUpOptions& options, DevCluster& cluster) {
  for (const std::string& value : options.agent_settings) {
    const Result<NodePath> given = parse_node_path(cluster, "agent-config", value);
    RETURN_IF_ERROR(given.status());
    Result<std::string> text = read_file(given.value().path);
    RETURN_IF_ERROR(text.status());
    cluster.agent_settings[given.value().node] = std::move(text).value();
  }
  return ok();
}

}  // namespace

Status reshape(const DevUpOptions& options, bool running, DevCluster& cluster) {
  RETURN_IF_ERROR(set_nodes(options, running, cluster));
  std::map<std::string, std::string> knobs = cluster.knobs;
  RETURN_IF_ERROR(set_knobs(options.knobs, cluster.fleet.has_value(), knobs));
  if (running && knobs != cluster.knobs) {
    return failed_precondition("cluster {} runs with other knobs: `hai dev down` first",
                               cluster.name);
  }
  cluster.knobs = std::move(knobs);
  DevCluster watched = cluster;
  RETURN_IF_ERROR(set_health_roots(options, watched));
  RETURN_IF_ERROR(set_agent_settings(options, watched));
  RETURN_IF_ERROR(check_own_gpus(watched));
  if (running && watched != cluster) {
    return failed_precondition(
        "the agents of cluster {} run with other settings: `hai dev down` first", cluster.name);
  }
  cluster = std::move(watched);
  if (running && options.is_insecure && cluster.is_secure) {
    return failed_precondition("cluster {} runs with TLS: `hai dev down` first", cluster.name);
  }
  if (options.is_insecure) cluster.is_secure = false;
  const bool other_grpc = options.grpc_port != 0 && options.grpc_port != cluster.grpc_port;
  const bool other_http = options.http_port != 0 && options.http_port != cluster.http_port;
  if (running && (other_grpc || other_http)) {
    return failed_precondition("cluster {} runs on ports {} and {}: `hai dev down` first",
                               cluster.name, cluster.grpc_port, cluster.http_port);
  }
  if (running) return ok();
  RETURN_IF_ERROR(choose_port("--grpc-port", options.grpc_port, 0, cluster.grpc_port));
  RETURN_IF_ERROR(
      choose_port("--http-port", options.http_port, cluster.grpc_port, cluster.http_port));
  for (;;) {
    RETURN_IF_ERROR(choose_port("", 0, cluster.http_port, cluster.services_port));
    if (cluster.services_port != cluster.grpc_port) return ok();
    cluster.services_port = 0;
  }
}

}  // namespace hai::cli
