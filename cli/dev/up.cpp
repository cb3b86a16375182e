#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <set>
#include <thread>

#include "cli/client.h"
#include "cli/context_config.h"
#include "cli/dev/dev_cluster.h"
#include "cli/dev/programs.h"
#include "cli/dev/shape.h"
#include "cli/dev/verbs.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/format.h"
#include "cli/node_list.h"
#include "cli/patience.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/count_of.h"

namespace hai::cli {
namespace {

constexpr Duration kNodesLimit = 60s;
constexpr Duration kUpPollPause = 50ms;

std::string user_name() {
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : fmt::format("uid-{}", geteuid());
}

// 32 bytes in hexadecimal.
Result<std::string> random_digits() {
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return internal("the kernel gives no random bytes");
  }
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

// Made once: a cluster that starts again keeps its tokens and its key.
Status make_random_file(const std::string& path, const std::string& prefix) {
  if (access(path.c_str(), F_OK) == 0) return ok();
  const Result<std::string> digits = random_digits();
  RETURN_IF_ERROR(digits.status());
  return write_file(path, prefix + digits.value() + "\n", 0600);
}

bool has_living_processes(const DevClusterProcesses& processes) {
  if (processes.postgres() || processes.server() || processes.fleet()) return true;
  if (processes.cluster().fleet) return false;
  for (const DevNode& node : processes.cluster().nodes) {
    if (processes.agent(node.name)) return true;
  }
  return false;
}

Result<DevCluster> prepare(const DevUpOptions& options, const DevPlace& place) {
  const ClusterFiles files{place.data};
  DevCluster cluster;
  bool running = false;
  Result<DevCluster> known = load_cluster(place.data);
  if (known.is_ok()) {
    cluster = known.value();
    if (cluster.name != place.name) {
      return failed_precondition("{} holds the cluster {}, not {}", place.data, cluster.name,
                                 place.name);
    }
    running = has_living_processes(DevClusterProcesses(place.data, cluster));
  } else if (known.status().code() != Code::not_found) {
    return known;
  }
  cluster.name = place.name;
  if (!known.is_ok()) cluster.is_secure = true;
  RETURN_IF_ERROR(reshape(options, running, cluster));
  if (!known.is_ok()) {
    cluster.admin = user_name();
    RETURN_IF_ERROR(Postgres::choose_places(files, cluster));
  }
  RETURN_IF_ERROR(write_file(files.state(), format_cluster(cluster), 0644));
  return cluster;
}

Status start_all(DevClusterProcesses& processes) {
  RETURN_IF_ERROR(processes.start_postgres());
  RETURN_IF_ERROR(processes.start_server());
  return processes.start_nodes();
}

std::string log_of(const DevClusterProcesses& processes, const std::string& node) {
  return processes.files().log_of(processes.cluster().fleet ? "fleet" : "agent-" + node);
}

// Names of the nodes that are not up yet; an error if one never will be.
Result<std::set<std::string>> missing_nodes(const DevClusterProcesses& processes, Client& client) {
  std::set<std::string> missing;
  const std::optional<ProcessId> fleet = processes.fleet();
  for (const DevNode& node : processes.cluster().nodes) {
    if (!fleet && !processes.agent(node.name)) {
      const std::string log = log_of(processes, node.name);
      return internal("hai-agent of {} has ended; its log {} ends with:\n{}", node.name, log,
                      tail_of(log, 12));
    }
    missing.insert(node.name);
  }
  v1::ListNodesRequest request;
  request.set_liveness("up");
  const Result<std::vector<v1::Node>> up = all_nodes(client, std::move(request));
  RETURN_IF_ERROR(up.status());
  for (const v1::Node& node : up.value()) missing.erase(node.name());
  return missing;
}

Status wait_for_nodes(const DevClusterProcesses& processes, Client& client) {
  const MonoTime end = mono_now() + kNodesLimit;
  for (;;) {
    const MonoTime asked_at = mono_now();
    const Result<std::set<std::string>> missing = missing_nodes(processes, client);
    if (missing.is_ok() && missing.value().empty()) return ok();
    const bool may_pass = missing.is_ok() || missing.status().code() == Code::unavailable;
    if (!may_pass) return missing.status();
    if (mono_now() > end) {
      if (!missing.is_ok()) return missing.status();
      const std::string& first = *missing.value().begin();
      const std::string log = log_of(processes, first);
      return unavailable("{} of {} nodes are not up after {}; the log of {} ends with:\n{}",
                         missing.value().size(), processes.cluster().nodes.size(),
                         format_duration(kNodesLimit), first, tail_of(log, 12));
    }
    // Asking after 12,500 nodes takes the server's time: at most a tenth of it.
    std::this_thread::sleep_for(std::max(kUpPollPause, 9 * (mono_now() - asked_at)));
  }
}

// From the start, so that `hai dev down --name` finds what a failed start left; the current one
// only when all is up.
Status save_context(const DevClusterProcesses& processes, const std::string& token,
                    const std::string& ca, bool make_current) {
  Status status;
  const std::string& name = processes.cluster().name;
  RETURN_IF_ERROR(update_contexts(context_config_path(), [&](ContextConfig& config) {
    std::string before;
    for (const Context& known : config.contexts) {
      if (known.name != name) continue;
      if (known.dev_data.empty()) {
        status = already_exists("context {} is another cluster: choose --name", name);
        return;
      }
      before = known.before;
    }
    if (make_current && config.current != name) before = std::exchange(config.current, name);
    put_context(config, {.name = name,
                         .servers = {processes.cluster().grpc()},
                         .token = token,
                         .dev_data = processes.files().data,
                         .before = before,
                         .ca = ca});
  }));
  return status;
}

// Makes those that are missing, and the key of secrets; returns the administrator's.
Result<std::string> make_tokens(const ClusterFiles& files) {
  RETURN_IF_ERROR(make_random_file(files.admin_token(), "hai_"));
  RETURN_IF_ERROR(make_random_file(files.agent_token(), "hai_"));
  RETURN_IF_ERROR(make_random_file(files.secrets_key(), ""));
  const Result<std::string> text = read_file(files.admin_token());
  RETURN_IF_ERROR(text.status());
  return text.value().substr(0, text.value().find('\n'));
}

std::string certificate_line(const DevClusterProcesses& processes) {
  if (!processes.cluster().is_secure) return "";
  return fmt::format("  its CA      {}: let the browser trust it, or go on past its warning\n",
                     processes.files().ca().certificate());
}

// The token stands behind '#', so the browser signs in by itself and never sends it as an address.
void say_up(const DevClusterProcesses& processes, const std::string& token, Duration took) {
  const DevCluster& cluster = processes.cluster();
  print(
      fmt::format("cluster {} is up: {}, in {:.1f} s\n\n"
                  "  dashboard   {}/#token={}\n"
                  "{}"
                  "  gRPC        {}\n"
                  "  data, logs  {}\n\n"
                  "try     hai nodes\n"
                  "        hai exec sleep 60 -- -n 2\n"
                  "        hai list\n"
                  "stop    hai dev down\n",
                  cluster.name, count_of(static_cast<int64_t>(cluster.nodes.size()), "node"),
                  static_cast<double>(took.count()) / 1e6, cluster.http(), token,
                  certificate_line(processes), cluster.grpc(), processes.files().data));
}

Status up(const DevUpOptions& options, const DevPlace& place, MonoTime began) {
  RETURN_IF_ERROR(make_directories(place.data, 0755));
  const Result<int> lock = lock_cluster(place.data);
  RETURN_IF_ERROR(lock.status());
  const ClusterFiles files{place.data};
  RETURN_IF_ERROR(make_directories(files.logs(), 0755));
  RETURN_IF_ERROR(make_directories(files.pids(), 0755));
  const Result<DevCluster> cluster = prepare(options, place);
  RETURN_IF_ERROR(cluster.status());
  DevClusterProcesses processes(place.data, cluster.value());
  const Result<std::string> token = make_tokens(files);
  RETURN_IF_ERROR(token.status());
  RETURN_IF_ERROR(processes.issue_certificates());
  const Result<TlsTexts> tls = processes.tls();
  RETURN_IF_ERROR(tls.status());
  const std::string& ca = tls.value().ca;
  RETURN_IF_ERROR(save_context(processes, token.value(), ca, /*make_current=*/false));
  RETURN_IF_ERROR(start_all(processes));
  Client client({cluster.value().grpc()}, token.value(), tls.value());
  RETURN_IF_ERROR(wait_for_nodes(processes, client));
  RETURN_IF_ERROR(save_context(processes, token.value(), ca, /*make_current=*/true));
  say_up(processes, token.value(), mono_now() - began);
  return ok();
}

}  // namespace

int dev_up(Session& session, const DevUpOptions& options) {
  const MonoTime began = mono_now();
  const Result<DevPlace> place = resolve_place(session, options.place);
  if (!place.is_ok()) return session.usage_error(place.status().message());
  // Said before anything is made: nothing half done stays behind.
  for (const char* program : {"hai-server", "hai-agent", "hai-shim"}) {
    const Result<std::string> found = find_program(program);
    if (!found.is_ok()) return session.fail(found.status());
  }
  const Status status = up(options, place.value(), began);
  if (status.is_ok()) return kOk;
  say_lines(status.message());
  const int code = exit_code_of(status);
  return code == kUnreachable ? kError : code;
}

}  // namespace hai::cli
