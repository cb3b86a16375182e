#include "cli/dev/shape.h"

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
  if (options.topology_file.empty()) {
    return default_topology(options.nodes.value_or(kDefaultNodes), gpus);
  }
  if (options.nodes) return invalid_argument("--nodes and --topology: the file names the nodes");
  const Result<std::string> text = read_file(options.topology_file);
  RETURN_IF_ERROR(text.status());
  Result<std::vector<DevNode>> nodes = parse_topology(text.value(), gpus);
  if (!nodes.is_ok()) {
    return invalid_argument("{}: {}", options.topology_file, nodes.status().message());
  }
  return nodes;
}

// The given port, else the one used before, else any; one that others have taken meanwhile only
// counts if it was asked for.
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
Status set_knobs(const std::vector<std::string>& given, std::map<std::string, std::string>& knobs) {
  for (const std::string& each : given) {
    const size_t equals = each.find('=');
    if (equals == std::string::npos) {
      return invalid_argument("--knob {}: must be NAME=VALUE", each);
    }
    knobs[each.substr(0, equals)] = each.substr(equals + 1);
  }
  Knobs all;
  all.heartbeat = kDevHeartbeat;
  for (const auto& [name, value] : knobs) {
    if (Status status = set_knob(all, name, value); !status.is_ok()) {
      return invalid_argument("--knob {}", status.message());
    }
  }
  return check_knobs(all);
}

}  // namespace

Status reshape(const DevUpOptions& options, bool running, DevCluster& cluster) {
  const bool asks_nodes = options.nodes || options.gpus || !options.topology_file.empty();
  if (asks_nodes || cluster.nodes.empty()) {
    const Result<std::vector<DevNode>> nodes = wanted_nodes(options);
    RETURN_IF_ERROR(nodes.status());
    if (running && nodes.value() != cluster.nodes) {
      return failed_precondition("cluster {} runs with {} other nodes: `hai dev down` first",
                                 cluster.name, cluster.nodes.size());
    }
    cluster.nodes = nodes.value();
  }
  std::map<std::string, std::string> knobs = cluster.knobs;
  RETURN_IF_ERROR(set_knobs(options.knobs, knobs));
  if (running && knobs != cluster.knobs) {
    return failed_precondition("cluster {} runs with other knobs: `hai dev down` first",
                               cluster.name);
  }
  cluster.knobs = std::move(knobs);
  const bool other_grpc = options.grpc_port != 0 && options.grpc_port != cluster.grpc_port;
  const bool other_http = options.http_port != 0 && options.http_port != cluster.http_port;
  if (running && (other_grpc || other_http)) {
    return failed_precondition("cluster {} runs on ports {} and {}: `hai dev down` first",
                               cluster.name, cluster.grpc_port, cluster.http_port);
  }
  if (running) return ok();
  RETURN_IF_ERROR(choose_port("--grpc-port", options.grpc_port, 0, cluster.grpc_port));
  return choose_port("--http-port", options.http_port, cluster.grpc_port, cluster.http_port);
}

}  // namespace hai::cli
