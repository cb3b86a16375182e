#include "cli/dev/targets.h"

#include <functional>

#include "cli/dev/dev_cluster.h"
#include "cli/dev/verbs.h"
#include "cli/exit_code.h"
#include "cli/session.h"

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
      processes.kill_agent(target.node);
      return ok();
    case DevTarget::Kind::node:
      return processes.kill_node(target.node)
                 ? ok()
                 : internal("some processes of {} cannot be killed", target.node);
  }
  return ok();
}

Status start_target(DevClusterProcesses& processes, const DevTarget& target) {
  switch (target.kind) {
    case DevTarget::Kind::server:
      return processes.start_server();
    case DevTarget::Kind::postgres:
      return processes.start_postgres();
    case DevTarget::Kind::agent:
    case DevTarget::Kind::node:  // its ranks are gone; the agent says so to the server
      return processes.start_agent(*processes.find_node(target.node));
  }
  return ok();
}

Result<std::vector<DevTarget>> parse_targets(const std::vector<std::string>& texts) {
  std::vector<DevTarget> targets;
  for (const std::string& text : texts) {
    Result<DevTarget> target = parse_target(text);
    RETURN_IF_ERROR(target.status());
    targets.push_back(std::move(target).value());
  }
  return targets;
}

int act(Session& session, const DevPlace& place, const std::vector<std::string>& texts,
        const Action& action) {
  const Result<std::vector<DevTarget>> targets = parse_targets(texts);
  if (!targets.is_ok()) return session.usage_error(targets.status().message());
  const Result<DevPlace> found = resolve_place(session, place, /*for_up=*/false);
  if (!found.is_ok()) return session.usage_error(found.status().message());
  const Result<DevCluster> cluster = load_cluster(found.value().data);
  if (!cluster.is_ok()) return session.fail(cluster.status());
  const Result<int> lock = lock_cluster(found.value().data);
  if (!lock.is_ok()) return session.fail(lock.status());
  DevClusterProcesses processes(found.value().data, cluster.value());
  for (const DevTarget& target : targets.value()) {
    if (!target.node.empty() && processes.find_node(target.node) == nullptr) {
      return session.fail(not_found("no node {} in cluster {}", target.node, cluster.value().name));
    }
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

Result<DevTarget> parse_target(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string name(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  const bool has_name = !name.empty();
  if (text == "server") return DevTarget{DevTarget::Kind::server, ""};
  if (text == "postgres") return DevTarget{DevTarget::Kind::postgres, ""};
  if (kind == "agent" && has_name) return DevTarget{DevTarget::Kind::agent, name};
  if (kind == "node" && has_name) return DevTarget{DevTarget::Kind::node, name};
  return invalid_argument("'{}' is none of server, postgres, agent:NAME, node:NAME", text);
}

int dev_kill(Session& session, const DevPlace& place, const std::vector<std::string>& targets) {
  return act(session, place, targets, kill_target);
}

int dev_start(Session& session, const DevPlace& place, const std::vector<std::string>& targets) {
  return act(session, place, targets, start_target);
}

}  // namespace hai::cli
