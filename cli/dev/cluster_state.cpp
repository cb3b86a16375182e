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
          .gpus = item.at("gpus").get<int>(),
          .gpu_model = item.value("gpu_model", ""),
          .label = item.value("label", "")};
}

void read_fleet(const ordered_json& item, DevCluster& cluster) {
  const Result<FabricShape> shape = parse_fabric_shape(item.at("topology").get<std::string>());
  cluster.fleet = DevFleet{.shape = shape.is_ok() ? shape.value() : FabricShape::two_zone,
                           .rank_seconds = item.at("rank_seconds").get<double>()};
  cluster.nodes =
      fleet_topology(item.at("nodes").get<int>(), item.at("gpus").get<int>(), cluster.fleet->shape);
}

}  // namespace

std::string format_cluster(const DevCluster& cluster) {
  ordered_json root = {{"name", cluster.name},
                       {"grpc_port", cluster.grpc_port},
                       {"http_port", cluster.http_port},
                       {"services_port", cluster.services_port},
                       {"tls", cluster.is_secure},
                       {"admin", cluster.admin},
                       {"postgres_data", cluster.postgres_data},
                       {"postgres_socket", cluster.postgres_socket},
                       {"postgres_user", cluster.postgres_user},
                       {"knobs", cluster.knobs},
                       {"health_roots", cluster.health_roots},
                       {"agent_settings", cluster.agent_settings},
                       {"nodes", ordered_json::array()}};
  if (cluster.fleet) {
    root["fleet"] = {{"nodes", cluster.nodes.size()},
                     {"gpus", cluster.nodes.empty() ? 0 : cluster.nodes.front().gpus},
                     {"topology", to_string(cluster.fleet->shape)},
                     {"rank_seconds", cluster.fleet->rank_seconds}};
    return root.dump(2) + "\n";  // the nodes follow from it
  }
  for (const DevNode& node : cluster.nodes) {
    root["nodes"].push_back({{"name", node.name},
                             {"group", node.group},
                             {"zone", node.zone},
                             {"leaf", node.leaf},
                             {"gpus", node.gpus},
                             {"gpu_model", node.gpu_model},
                             {"label", node.label}});
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
    cluster.services_port = root.value("services_port", 0);
    cluster.is_secure = root.value("tls", false);  // none: made by a version without
    cluster.admin = root.at("admin").get<std::string>();
    cluster.postgres_data = root.at("postgres_data").get<std::string>();
    cluster.postgres_socket = root.at("postgres_socket").get<std::string>();
    cluster.postgres_user = root.at("postgres_user").get<std::string>();
    if (root.contains("knobs")) root.at("knobs").get_to(cluster.knobs);
    if (root.contains("health_roots")) root.at("health_roots").get_to(cluster.health_roots);
    if (root.contains("agent_settings")) root.at("agent_settings").get_to(cluster.agent_settings);
    if (root.contains("fleet")) read_fleet(root.at("fleet"), cluster);
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
