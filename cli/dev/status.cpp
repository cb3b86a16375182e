#include <nlohmann/json.hpp>

#include "cli/dev/dev_cluster.h"
#include "cli/dev/verbs.h"
#include "cli/exit_code.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/count_of.h"

namespace hai::cli {
namespace {

Json pid_json(const std::optional<ProcessId>& process) {
  return process ? Json(process->pid) : Json(nullptr);
}

Json to_json(const DevClusterProcesses& processes, const std::string& conninfo) {
  const DevCluster& cluster = processes.cluster();
  const std::optional<ProcessId> fleet = processes.fleet();
  Json nodes = Json::array();
  for (const DevNode& node : cluster.nodes) {
    const auto agent = cluster.fleet ? fleet : processes.agent(node.name);
    nodes.push_back({{"name", node.name}, {"agent_pid", pid_json(agent)}});
  }
  return {{"name", cluster.name},
          {"http", cluster.http()},
          {"grpc", cluster.grpc()},
          {"postgres", conninfo},
          {"postgres_pid", pid_json(processes.postgres())},
          {"server", {{"pid", pid_json(processes.server())}}},
          {"nodes", nodes},
          {"data", processes.files().data}};
}

std::string to_table(const DevClusterProcesses& processes, const Terminal& terminal) {
  Table table({{"PROCESS"}, {"STATE"}, {"PID", true}, {"WHERE", false, true}});
  const auto add = [&](const std::string& name, const std::optional<ProcessId>& process,
                       const std::string& where) {
    const std::string state = process ? "running" : "stopped";
    table.add_row(
        {name, {state, colour_of(state)}, process ? std::to_string(process->pid) : "-", where});
  };
  const DevCluster& cluster = processes.cluster();
  add("postgres", processes.postgres(), cluster.postgres_socket);
  add("server", processes.server(), cluster.http() + "/, gRPC " + cluster.grpc());
  if (cluster.fleet) {
    add("fleet", processes.fleet(),
        fmt::format("{} of {}, {}, {}", count_of(std::ssize(cluster.nodes), "node"),
                    count_of(cluster.nodes[0].gpus, "GPU"), to_string(cluster.fleet->shape),
                    processes.files().fleet_socket()));
  }
  for (const DevNode& node : cluster.nodes) {
    if (cluster.fleet) break;
    add("agent:" + node.name, processes.agent(node.name),
        fmt::format("{} zone {} {}", node.group, node.zone, node.leaf));
  }
  return fmt::format("cluster {} in {}\n\n", cluster.name, processes.files().data) +
         table.render(terminal);
}

}  // namespace

int dev_status(Session& session, const DevPlace& place, OutputFormat output) {
  const Result<DevPlace> found = resolve_place(session, place);
  if (!found.is_ok()) return session.usage_error(found.status().message());
  const Result<DevCluster> cluster = load_cluster(found.value().data);
  if (!cluster.is_ok()) return session.fail(cluster.status());
  const DevClusterProcesses processes(found.value().data, cluster.value());
  print(is_json(output) ? format_json(to_json(processes, processes.conninfo()), output)
                        : to_table(processes, session.terminal));
  return kOk;
}

}  // namespace hai::cli
