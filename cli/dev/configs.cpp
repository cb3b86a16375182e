#include "cli/dev/configs.h"

#include <fmt/format.h>

#include "common/config/yaml_text.h"

namespace hai::cli {
namespace {

constexpr const char* kDevLogsEvery = "5s";

std::string knobs_text(const DevCluster& cluster) {
  std::map<std::string, std::string> knobs = cluster.knobs;
  knobs.try_emplace("heartbeat", format_duration(cluster.fleet ? kFleetHeartbeat : kDevHeartbeat));
  std::string text;
  for (const auto& [name, value] : knobs)
    text += fmt::format("  {}: {}\n", name, quoted_yaml(value));
  return text;
}

std::string settings_of(const DevCluster& cluster, const std::string& node) {
  for (const std::string& key : {node, std::string()}) {
    const auto found = cluster.agent_settings.find(key);
    if (found != cluster.agent_settings.end()) return found->second + "\n";
  }
  return "";
}

// Whom a process of the cluster believes and which pair it shows, as lines of its config.
std::string tls_text(const ClusterFiles& files, const DevCluster& cluster, const char* ca_key,
                     const std::string& pair) {
  if (!cluster.is_secure) return "";
  const TlsFiles own = files.ca().pair(pair);
  return fmt::format("tls:\n  {}: {}\n  certificate: {}\n  key: {}\n", ca_key,
                     quoted_yaml(files.ca().certificate()), quoted_yaml(own.certificate),
                     quoted_yaml(own.key));
}

// A line of the section before: machines may join.
std::string authority_text(const ClusterFiles& files) {
  return fmt::format("  authority: {}\n", quoted_yaml(files.ca().path()));
}

}  // namespace

std::string server_config(const ClusterFiles& files, const DevCluster& cluster,
                          const std::string& conninfo) {
  return fmt::format(R"(# Written anew by each `hai dev up` and `hai dev start server`.
cluster: {}
listen:
  grpc: {}
  http: 127.0.0.1:{}
  services: 127.0.0.1:{}
store:
  conninfo: {}
bootstrap:
  admin_user: {}
  admin_token_file: {}
  admin_token_ttl: 365d   # the cluster is of the person whose token it is
agent_token_file: {}
secrets:
  key_file: {}
{}logs:
  store: {}
migrate_on_start: true
status_page: true
default_quota_nodes: unlimited
streams_per_user: 20000
knobs:
{}log:
  level: info
)",
                     cluster.name, cluster.grpc(), cluster.http_port, cluster.services_port,
                     quoted_yaml(conninfo), quoted_yaml(cluster.admin),
                     quoted_yaml(files.admin_token()), quoted_yaml(files.agent_token()),
                     quoted_yaml(files.secrets_key()),
                     tls_text(files, cluster, "client_ca", kServerPair) +
                         (cluster.is_secure ? authority_text(files) : ""),
                     quoted_yaml(files.log_store()), knobs_text(cluster));
}

std::string agent_config(const ClusterFiles& files, const DevCluster& cluster, const DevNode& node,
                         const std::string& address) {
  const std::string settings = settings_of(cluster, node.name);
  const auto unless_set = [&settings](const std::string& key, const std::string& lines) {
    const bool is_set = ("\n" + settings).find("\n" + key + ":") != std::string::npos;
    return is_set ? "" : key + ":" + lines;
  };
  // A validation of a node that is no machine of its own shows how it works, and is soon over.
  std::string defaults = unless_set("validator", "\n  options: --quick\n");
  // On their own machines people work in /tmp, and so do their jobs.
  defaults += unless_set("isolation", " shared\n");
  // Its users are hai's only: their jobs run as whoever started the cluster.
  defaults += unless_set("confinement", "\n  system_users: [root]\n");
  // A node that is killed to see what happens takes no logs with it.
  defaults += unless_set("logs", fmt::format("\n  store: {}\n  every: {}\n",
                                             quoted_yaml(files.log_store()), kDevLogsEvery));
  std::string kind;
  if (!node.gpu_model.empty()) {
    kind += fmt::format("simulate_gpu_model: {}\n", quoted_yaml(node.gpu_model));
  }
  if (!node.label.empty()) kind += fmt::format("labels: [{}]\n", quoted_yaml(node.label));
  return fmt::format(R"(# Written anew by each `hai dev up` and `hai dev start agent:{}`.
name: {}
group: {}
zone: {}
leaf: {}
address: {}
data_dir: {}
servers: [{}]
token_file: {}
{}simulate_gpus: {}
{}unknown_user_runs_as_self: true
{}{}log:
  level: info
)",
                     node.name, quoted_yaml(node.name), quoted_yaml(node.group),
                     quoted_yaml(node.zone), quoted_yaml(node.leaf), address,
                     quoted_yaml(files.node(node.name)), quoted_yaml(cluster.grpc()),
                     quoted_yaml(files.agent_token()), tls_text(files, cluster, "ca", node.name),
                     node.gpus, kind, defaults, settings);
}

std::string fleet_config(const ClusterFiles& files, const DevCluster& cluster) {
  return fmt::format(R"(# Written anew by each `hai dev up` and `hai dev start fleet`.
name: node
group: {}
data_dir: {}
servers: [{}]
token_file: {}
simulate_gpus: {}
log:
  level: warning
)",
                     quoted_yaml(cluster.nodes.front().group), quoted_yaml(files.data),
                     quoted_yaml(cluster.grpc()), quoted_yaml(files.agent_token()),
                     cluster.nodes.front().gpus);
}

}  // namespace hai::cli
