#include "cli/dev/cluster_state.h"

#include <nlohmann/json.hpp>

#include "cli/dev/cluster_files.h"
#include "cli/file.h"

namespace hai::cli {
namespace {

using nlohmann::ordered_json;

DevNode node_from_json(const ordered_json& item) {
  return {.name = item.at("name").get<std::string>(),
          .group = item.at("group").get<std::string>(),
          .zone = item.at("zone").get<std::string>(),
          .leaf = item.at("leaf").get<std::string>(),
          .gpus = item.at("gpus").get<int>()};
}

}  // namespace

std::string format_cluster(const DevCluster& cluster) {
  ordered_json root = {{"name", cluster.name},
                       {"grpc_port", cluster.grpc_port},
                       {"http_port", cluster.http_port},
                       {"admin", cluster.admin},
                       {"postgres_data", cluster.postgres_data},
                       {"postgres_socket", cluster.postgres_socket},
                       {"postgres_user", cluster.postgres_user},
                       {"knobs", cluster.knobs},
                       {"nodes", ordered_json::array()}};
  for (const DevNode& node : cluster.nodes) {
    root["nodes"].push_back({{"name", node.name},
                             {"group", node.group},
                             {"zone", node.zone},
                             {"leaf", node.leaf},
                             {"gpus", node.gpus}});
  }
  return root.dump(2) + "\n";
}

Result<DevCluster> parse_cluster(std::string_view json) {
  try {
    const ordered_json root = ordered_json::parse(json);
    DevCluster cluster;
    cluster.name = root.at("name").get<std::string>();
    cluster.grpc_port = root.at("grpc_port").get<int>();
    cluster.http_port = root.at("http_port").get<int>();
    cluster.admin = root.at("admin").get<std::string>();
    cluster.postgres_data = root.at("postgres_data").get<std::string>();
    cluster.postgres_socket = root.at("postgres_socket").get<std::string>();
    cluster.postgres_user = root.at("postgres_user").get<std::string>();
    if (root.contains("knobs")) root.at("knobs").get_to(cluster.knobs);
    for (const ordered_json& item : root.at("nodes")) cluster.nodes.push_back(node_from_json(item));
    return cluster;
  } catch (const nlohmann::json::exception& error) {
    return failed_precondition("not the description of a dev cluster: {}", error.what());
  }
}

Result<DevCluster> load_cluster(const std::string& data) {
  const std::string path = ClusterFiles{data}.state();
  const Result<std::string> text = read_file(path);
  if (text.status().code() == Code::not_found) {
    return not_found("no dev cluster in {}: `hai dev up` makes one", data);
  }
  RETURN_IF_ERROR(text.status());
  Result<DevCluster> cluster = parse_cluster(text.value());
  if (!cluster.is_ok()) {
    return failed_precondition("{}: {}; `hai dev down --purge` removes it", path,
                               cluster.status().message());
  }
  return cluster;
}

std::string node_address(const std::string& data, size_t index) {
  uint32_t hash = 2'166'136'261;  // FNV-1a
  for (const char c : data) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619;
  // 127.64.0.0 to 127.127.255.255, 250 nodes per block.
  return fmt::format("127.{}.{}.{}", 64 + hash % 64, (hash >> 8) % 256, index % 250 + 1);
}

}  // namespace hai::cli
