// hai-agent: launches and watches the ranks of one node. Reads its config, composes the agent, runs
// it; no logic here.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <random>

#include "agent/agent_config.h"
#include "agent/check_health.h"
#include "agent/core/agent.h"
#include "agent/fleet.h"
#include "agent/gpu_inventory.h"
#include "agent/os/agent_record_file.h"
#include "agent/os/host_facts.h"
#include "agent/os/log_source.h"
#include "agent/os/os_rank_host.h"
#include "agent/os/sdk_path.h"
#include "agent/rpc/server_link.h"
#include "agent/rpc/udp_peers.h"
#include "common/asio_loop.h"
#include "common/config/token_file.h"
#include "common/log.h"
#include "common/version.h"

namespace hai {
namespace {

constexpr int kOk = 0;
constexpr int kError = 1;
constexpr int kUsage = 2;
constexpr int kFleetMax = 15'000;  // each is a connection, so a file descriptor

int fail(const Status& status) {
  fmt::print(stderr, "hai-agent: {}\n", status.message());
  return status.code() == Code::invalid_argument ? kUsage : kError;
}

NodeFacts make_facts(const AgentConfig& config) {
  NodeFacts facts = gather_host_facts();
  if (!config.name.empty()) facts.name = config.name;
  if (!config.address.empty()) facts.address = config.address;
  facts.group = config.group;
  facts.zone = config.zone;
  facts.leaf = config.leaf;
  facts.agent_version = version();
  const GpuInventory gpus =
      config.simulate_gpus > 0 ? GpuInventory{config.simulate_gpus, "simulated"} : find_gpus();
  facts.gpus = gpus.count;
  facts.gpu_model = gpus.model;
  return facts;
}

// The ranks run on without us: their shims hold them, and their leases end on their own.
void stop_on_signals(AsioLoop& loop) {
  loop.on_signals({SIGINT, SIGTERM}, [&loop](int signal) {
    log_info("agent_stopping", {{"signal", signal}});
    loop.stop();
  });
}

int run_fleet(const AgentConfig& config, const std::string& token, int nodes) {
  AsioLoop loop;
  Fleet fleet(loop, config, token, {.nodes = nodes}, std::random_device()());
  stop_on_signals(loop);
  log_info("fleet_started", {{"version", version()}, {"nodes", nodes}});
  fleet.start();
  loop.run();
  log_info("agent_stopped");
  return kOk;
}

// At the port it had last, if the config leaves it open: that is the one the other agents know.
Result<std::unique_ptr<UdpPeers>> open_peers(const AgentConfig& config, const NodeFacts& facts,
                                             const std::string& token, AgentRecordFile& keeper,
                                             AsioLoop& loop) {
  UdpPeersOptions options{.node = facts.name,
                          .agent_token = token,
                          .address = facts.address,
                          .port = config.peer_port == 0 ? keeper.peer_port() : config.peer_port};
  Result<std::unique_ptr<UdpPeers>> peers = UdpPeers::open(loop.io_context(), options);
  if (!peers.is_ok() && config.peer_port == 0) {
    options.port = 0;
    peers = UdpPeers::open(loop.io_context(), options);
  }
  if (peers.is_ok()) keeper.set_peer_port(peers.value()->port());
  return peers;
}

int run_agent(const AgentConfig& config, const std::string& token) {
  AsioLoop loop;
  OsRankHostOptions host_options{
      .data_dir = config.data_dir,
      .shim_path = config.shim,
      .unknown_user_runs_as_self = config.unknown_user_runs_as_self,
      .use_cgroups = config.cgroups,
      .python_dir = config.python_dir.empty() ? default_python_dir() : config.python_dir};
  Result<std::unique_ptr<OsRankHost>> host =
      OsRankHost::open(std::move(host_options), loop, loop.io_context());
  if (!host.is_ok()) return fail(host.status());
  OsLogSource logs(config.data_dir,
                   [&host = *host.value()](const RankKey& key) { return host.is_live(key); });
  NodeFacts facts = make_facts(config);
  AgentRecordFile keeper(config.data_dir, facts.boot_id, loop);
  Result<std::unique_ptr<UdpPeers>> peers = open_peers(config, facts, token, keeper, loop);
  if (!peers.is_ok()) return fail(peers.status());
  facts.peer_port = peers.value()->port();
  GrpcServerLink link(loop, logs,
                      {.servers = config.servers,
                       .agent_token = token,
                       .node = facts.name,
                       .seed = std::random_device()()});
  Agent agent(loop, {*host.value(), link, *peers.value(), keeper}, facts);

  stop_on_signals(loop);
  log_info("agent_started", {{"version", version()},
                             {"node", facts.name},
                             {"gpus", facts.gpus},
                             {"data_dir", config.data_dir}});
  agent.start();
  loop.run();
  log_info("agent_stopped");
  return kOk;
}

int start(const AgentConfig& config, int fleet_nodes) {
  set_log_level(config.log_level);
  if (Status status = set_log_file(config.log_file); !status.is_ok()) return fail(status);
  std::signal(SIGPIPE, SIG_IGN);
  Result<std::string> token = read_token_file(config.token_file);
  if (!token.is_ok()) return fail(token.status());
  if (fleet_nodes > 0) return run_fleet(config, token.value(), fleet_nodes);
  return run_agent(config, token.value());
}

struct HealthOptions {
  bool is_asked = false;
  std::string format = "table";
  HealthOverrides overrides;
};

void add_health_options(CLI::App& app, HealthOptions& options) {
  app.add_flag("--check-health", options.is_asked,
               "look at this node once, print what is found, and exit: 1 if something fails");
  app.add_option("-o,--output", options.format, "of --check-health")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.add_option("--sys-root", options.overrides.sys_root, "stands for /sys in health checks");
  app.add_option("--proc-root", options.overrides.proc_root, "stands for /proc in health checks");
  app.add_option("--kmsg", options.overrides.kmsg, "stands for /dev/kmsg in health checks");
  app.add_option("--nvml-library", options.overrides.nvml_library,
                 "stands for libnvidia-ml.so.1 in health checks");
}

int show_health(const AgentConfig& config, bool as_json) {
  const Result<bool> is_well = check_health(config, as_json);
  if (!is_well.is_ok()) return fail(is_well.status());
  return is_well.value() ? kOk : kError;
}

// A node is looked at before it is set up, too.
Result<AgentConfig> read_agent_config_if_any(const std::string& path) {
  Result<AgentConfig> config = read_agent_config(path);
  if (!config.is_ok() && config.status().code() == Code::not_found) return AgentConfig{};
  return config;
}

int run(int argc, char** argv) {
  CLI::App app{"hai-agent: runs the ranks of one node of a hai cluster"};
  app.set_version_flag("--version", "hai-agent " + std::string(version()));
  std::string path = "/etc/hai/agent.yaml";
  bool check_only = false;
  int simulate_gpus = 0;
  int fleet_nodes = 0;
  app.add_option("--config", path, "config file")->capture_default_str();
  app.add_flag("--check-config", check_only, "read the config, say what is wrong, and exit");
  app.add_option("--simulate-gpus", simulate_gpus, "pretend to have so many GPUs")
      ->check(CLI::Range(1, GpuSet::kMax));
  app.add_option("--fleet", fleet_nodes,
                 "be so many nodes at once, whose ranks are timers: for scale tests")
      ->check(CLI::Range(1, kFleetMax));
  HealthOptions health;
  add_health_options(app, health);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  const bool needs_config = !health.is_asked || app.count("--config") > 0;
  Result<AgentConfig> config =
      needs_config ? read_agent_config(path) : read_agent_config_if_any(path);
  if (!config.is_ok()) return fail(config.status());
  if (check_only) {
    fmt::print("{}: ok\n", path);
    return kOk;
  }
  if (simulate_gpus > 0) config.value().simulate_gpus = simulate_gpus;
  apply(health.overrides, config.value().health);
  if (health.is_asked) return show_health(config.value(), health.format == "json");
  return start(config.value(), fleet_nodes);
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) { return hai::run(argc, argv); }
