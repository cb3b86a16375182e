#include "cli/dev/dev_cluster.h"

#include <unistd.h>

#include <thread>

#include "cli/dev/certificates.h"
#include "cli/dev/configs.h"
#include "cli/dev/node_processes.h"
#include "cli/dev/ports.h"
#include "cli/dev/programs.h"
#include "cli/dev/say_to_socket.h"
#include "cli/file.h"
#include "cli/patience.h"

namespace hai::cli {
namespace {

constexpr Duration kPostgresLimit = 30s;
constexpr Duration kServerLimit = 20s;
constexpr Duration kServerStopGrace = 5s;
constexpr Duration kAgentStopGrace = 5s;
constexpr Duration kKillLimit = 10s;
constexpr Duration kPollPause = 10ms;

std::string agent_key(const std::string& node) { return "agent-" + node; }

}  // namespace

const DevNode* DevClusterProcesses::find_node(std::string_view name) const {
  for (const DevNode& node : cluster_.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

std::optional<ProcessId> DevClusterProcesses::server() const {
  return read_pid_file(files_.pid_of("server"));
}

std::optional<ProcessId> DevClusterProcesses::fleet() const {
  return read_pid_file(files_.pid_of("fleet"));
}

std::optional<ProcessId> DevClusterProcesses::agent(const std::string& node) const {
  if (cluster_.fleet) return fleet();
  return read_pid_file(files_.pid_of(agent_key(node)));
}

Status DevClusterProcesses::issue_certificates() const {
  if (!cluster_.is_secure) return ok();
  std::vector<std::string> nodes;
  for (const DevNode& node : cluster_.nodes) nodes.push_back(node.name);
  if (cluster_.fleet) nodes.clear();  // it issues them itself
  return keep_certificates(files_.ca(), nodes);
}

Result<TlsTexts> DevClusterProcesses::tls() const {
  if (!cluster_.is_secure) return TlsTexts{};
  return read_tls_files({.ca = files_.ca().certificate()});
}

Status DevClusterProcesses::start_postgres() { return postgres_.start(kPostgresLimit); }

Status DevClusterProcesses::start_server() {
  if (server()) return ok();
  const Result<std::string> program = find_program("hai-server");
  RETURN_IF_ERROR(program.status());
  RETURN_IF_ERROR(make_directories(files_.log_store(), 0700));
  RETURN_IF_ERROR(write_file(files_.server_config(),
                             server_config(files_, cluster_, postgres_.conninfo()), 0644));
  const std::string log = files_.log_of("server");
  const Result<ProcessId> started = start_daemon(
      {.words = {program.value(), "--config", files_.server_config()}, .log_file = log});
  RETURN_IF_ERROR(started.status());
  RETURN_IF_ERROR(write_pid_file(files_.pid_of("server"), started.value()));
  const Result<TlsTexts> tls = this->tls();
  RETURN_IF_ERROR(tls.status());
  const MonoTime end = mono_now() + kServerLimit;
  // Another program may have taken the port meanwhile and answer: ours must be alive, too.
  while (http_status(cluster_.http_port, "/readyz", tls.value()) != 200 ||
         !is_alive(started.value())) {
    const bool alive = is_alive(started.value());
    if (!alive || mono_now() > end) {
      return unavailable("hai-server {}; its log {} ends with:\n{}",
                         alive ? "does not get ready" : "has ended", log, tail_of(log, 12));
    }
    std::this_thread::sleep_for(kPollPause);
  }
  return ok();
}

Status DevClusterProcesses::start_nodes() {
  if (cluster_.fleet) return start_fleet();
  for (const DevNode& node : cluster_.nodes) RETURN_IF_ERROR(start_agent(node));
  return ok();
}

Status DevClusterProcesses::start_fleet() {
  if (!cluster_.fleet) return failed_precondition("cluster {} has no fleet", cluster_.name);
  if (fleet()) return ok();
  const Result<std::string> program = find_program("hai-agent");
  RETURN_IF_ERROR(program.status());
  RETURN_IF_ERROR(write_file(files_.fleet_config(), fleet_config(files_, cluster_), 0644));
  std::vector<std::string> words{program.value(),
                                 "--config",
                                 files_.fleet_config(),
                                 "--fleet",
                                 std::to_string(cluster_.nodes.size()),
                                 "--topology",
                                 std::string(to_string(cluster_.fleet->shape)),
                                 "--rank-seconds",
                                 fmt::format("{}", cluster_.fleet->rank_seconds),
                                 "--control",
                                 files_.fleet_socket()};
  if (cluster_.is_secure) words.insert(words.end(), {"--authority", files_.ca().path()});
  const Result<ProcessId> started =
      start_daemon({.words = std::move(words), .log_file = files_.log_of("fleet")});
  RETURN_IF_ERROR(started.status());
  return write_pid_file(files_.pid_of("fleet"), started.value());
}

// The kernel's log of this machine says nothing of a node that is only pretended: each has a file
// of its own, into which one may write what its kernel should have said.
std::vector<std::string> DevClusterProcesses::agent_words(const std::string& program,
                                                          const DevNode& node) const {
  std::map<std::string, std::string> roots{{"kmsg", files_.node(node.name) + "/kmsg"}};
  for (const auto& [key, path] : cluster_.health_roots) {
    const size_t space = key.find(' ');
    if (space == std::string::npos) roots[key] = path;
  }
  for (const auto& [key, path] : cluster_.health_roots) {
    const size_t space = key.find(' ');
    if (space != std::string::npos && key.substr(space + 1) == node.name) {
      roots[key.substr(0, space)] = path;
    }
  }
  std::vector<std::string> words{program, "--config", files_.agent_config(node.name)};
  for (const auto& [option, path] : roots) {
    words.push_back("--" + option);
    words.push_back(path);
  }
  return words;
}

Status DevClusterProcesses::start_agent(const DevNode& node) {
  if (cluster_.fleet) {
    RETURN_IF_ERROR(start_fleet());
    return tell_fleet("restore " + node.name).status();
  }
  if (agent(node.name)) return ok();
  const Result<std::string> program = find_program("hai-agent");
  RETURN_IF_ERROR(program.status());
  const auto index = static_cast<size_t>(find_node(node.name) - cluster_.nodes.data());
  RETURN_IF_ERROR(make_directories(files_.node(node.name), 0755));
  RETURN_IF_ERROR(write_file(files_.agent_config(node.name),
                             agent_config(files_, cluster_, node, node_address(files_.data, index)),
                             0644));
  const std::string kmsg = files_.node(node.name) + "/kmsg";
  if (::access(kmsg.c_str(), F_OK) != 0) RETURN_IF_ERROR(write_file(kmsg, "", 0644));
  const Result<ProcessId> started = start_daemon({.words = agent_words(program.value(), node),
                                                  .log_file = files_.log_of(agent_key(node.name))});
  RETURN_IF_ERROR(started.status());
  return write_pid_file(files_.pid_of(agent_key(node.name)), started.value());
}

void DevClusterProcesses::kill_server() {
  if (const auto process = server()) {
    kill_processes({*process});
    wait_until_gone({*process}, 5s);
  }
}

void DevClusterProcesses::kill_fleet() {
  if (const auto process = fleet()) {
    kill_processes({*process});
    wait_until_gone({*process}, 5s);
  }
}

Status DevClusterProcesses::kill_agent(const std::string& node) {
  if (cluster_.fleet) {
    return failed_precondition(
        "{} is one of a fleet, its agent is no process: kill node:{} or fleet", node, node);
  }
  if (const auto process = agent(node)) {
    kill_processes({*process});
    wait_until_gone({*process}, 5s);
  }
  return ok();
}

Status DevClusterProcesses::kill_node(const std::string& node) {
  if (cluster_.fleet) return tell_fleet("kill " + node).status();
  if (kill_node_processes(files_.node(node), agent(node), kKillLimit)) return ok();
  return internal("some processes of {} cannot be killed", node);
}

Result<std::string> DevClusterProcesses::tell_fleet(const std::string& command) const {
  if (!cluster_.fleet) return failed_precondition("cluster {} has no fleet", cluster_.name);
  return say_to_socket(files_.fleet_socket(), command);
}

Status DevClusterProcesses::stop_nodes() {
  if (cluster_.fleet) {
    if (const auto process = fleet()) stop_processes({*process}, kAgentStopGrace);
    unlink(files_.pid_of("fleet").c_str());
    return ok();
  }
  std::vector<ProcessId> agents;
  for (const DevNode& node : cluster_.nodes) {
    if (const auto process = agent(node.name)) agents.push_back(*process);
  }
  stop_processes(agents, kAgentStopGrace);
  for (const DevNode& node : cluster_.nodes) {
    RETURN_IF_ERROR(kill_node(node.name));
    unlink(files_.pid_of(agent_key(node.name)).c_str());
  }
  return ok();
}

Status DevClusterProcesses::stop() {
  // The server first, so that it sees no node fail and requeues nothing.
  if (const auto process = server()) stop_processes({*process}, kServerStopGrace);
  RETURN_IF_ERROR(stop_nodes());
  unlink(files_.pid_of("server").c_str());
  return postgres_.stop();
}

}  // namespace hai::cli
