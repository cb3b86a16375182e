#include "cli/dev/shape.h"

#include "cli/dev/ports.h"
#include "cli/dev/topology.h"
#include "cli/file.h"
#include "cli/session.h"

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
