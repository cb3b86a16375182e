#include "cli/dev/targets.h"

#include <functional>

#include "cli/dev/dev_cluster.h"
#include "cli/dev/verbs.h"
#include "cli/exit_code.h"
#include "cli/session.h"
#include "common/hostlist.h"

namespace hai::cli {
namespace {

using Action = std::function<Status(DevClusterProcesses&, const DevTarget&)>;

Status kill_target(DevClusterProcesses& processes, const DevTarget& target) {
  switch (target.kind) {
    case DevTarget::Kind::server:
      processes.kill_server();
      return ok();
    case DevTarget::Kind::postgres:
      processes.kill_postgres();
      return ok();
    case DevTarget::Kind::agent:
      return processes.kill_agent(target.node);
    case DevTarget::Kind::node:
      return processes.kill_node(target.node);
    case DevTarget::Kind::fleet:
      processes.kill_fleet();
      return ok();
  }
  return ok();
}

Status start_target(DevClusterProcesses& processes, const DevTarget& target) {
  switch (target.kind) {
    case DevTarget::Kind::server:
      return processes.start_server();
    case DevTarget::Kind::postgres:
      return processes.start_postgres();
    case DevTarget::Kind::fleet:
      return processes.start_fleet();
    case DevTarget::Kind::agent:
    case DevTarget::Kind::node:  // its ranks are gone; the agent says so to the server
      return processes.start_agent(*processes.find_node(target.node));
  }
  return ok();
}

Result<std::vector<DevTarget>> parse_targets(const std::vector<std::string>& texts) {
  std::vector<DevTarget> targets;
  for (const std::string& text : texts) {
    const Result<std::vector<DevTarget>> part = parse_target(text);
    RETURN_IF_ERROR(part.status());
    targets.insert(targets.end(), part.value().begin(), part.value().end());
  }
  return targets;
}

int act(Session& session, const DevPlace& place, const std::vector<std::string>& texts,
        const Action& action) {
  const Result<std::vector<DevTarget>> targets = parse_targets(texts);
  if (!targets.is_ok()) return session.usage_error(targets.status().message());
  const Result<DevPlace> found = resolve_place(session, place);
  if (!found.is_ok()) return session.usage_error(found.status().message());
  const Result<DevCluster> cluster = load_cluster(found.value().data);
  if (!cluster.is_ok()) return session.fail(cluster.status());
  const Result<int> lock = lock_cluster(found.value().data);
  if (!lock.is_ok()) return session.fail(lock.status());
  DevClusterProcesses processes(found.value().data, cluster.value());
  std::vector<std::string> unknown;
  for (const DevTarget& target : targets.value()) {
    if (!target.node.empty() && processes.find_node(target.node) == nullptr) {
      unknown.push_back(target.node);
    }
  }
  if (!unknown.empty()) {
    return session.fail(
        not_found("no node {} in cluster {}", format_hostlist(unknown), cluster.value().name));
  }
  for (const DevTarget& target : targets.value()) {
    const Status status = action(processes, target);
    if (!status.is_ok()) {
      say_lines(status.message());
      return kError;
    }
  }
  return kOk;
}

}  // namespace

Result<std::vector<DevTarget>> parse_target(std::string_view text) {
  using Kind = DevTarget::Kind;
  if (text == "server") return std::vector{DevTarget{Kind::server, ""}};
  if (text == "postgres") return std::vector{DevTarget{Kind::postgres, ""}};
  if (text == "fleet") return std::vector{DevTarget{Kind::fleet, ""}};
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view list = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if ((kind != "agent" && kind != "node") || list.empty()) {
    return invalid_argument("'{}' is none of server, postgres, fleet, agent:NODES, node:NODES",
                            text);
  }
  const Result<std::vector<std::string>> names = parse_hostlist(list);
  RETURN_IF_ERROR(names.status());
  std::vector<DevTarget> targets;
  for (const std::string& name : names.value()) {
    targets.push_back({kind == "agent" ? Kind::agent : Kind::node, name});
  }
  return targets;
}

int dev_kill(Session& session, const DevPlace& place, const std::vector<std::string>& targets) {
  return act(session, place, targets, kill_target);
}

int dev_start(Session& session, const DevPlace& place, const std::vector<std::string>& targets) {
  return act(session, place, targets, start_target);
}

}  // namespace hai::cli
