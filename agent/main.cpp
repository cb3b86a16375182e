// hai-agent: launches and watches the ranks of one node. Reads its config, composes the agent, runs
// it; no logic here.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <random>

#include "agent/activity_sampler.h"
#include "agent/agent_config.h"
#include "agent/check_health.h"
#include "agent/core/agent.h"
#include "agent/doctor.h"
#include "agent/evidence_taker.h"
#include "agent/gpu_inventory.h"
#include "agent/health/log_store_check.h"
#include "agent/health/node_checks.h"
#include "agent/image_config.h"
#include "agent/join.h"
#include "agent/node_health.h"
#include "agent/os/agent_instance.h"
#include "agent/os/agent_record_file.h"
#include "agent/os/cgroup.h"
#include "agent/os/host_facts.h"
#include "agent/os/log_source.h"
#include "agent/os/log_uploader.h"
#include "agent/os/os_rank_host.h"
#include "agent/os/process_table.h"
#include "agent/os/shim_process.h"
#include "agent/peer_key_file.h"
#include "agent/rpc/certificate_renewer.h"
#include "agent/rpc/server_link.h"
#include "agent/rpc/server_list.h"
#include "agent/rpc/udp_peers.h"
#include "agent/run_fleet.h"
#include "agent/server_file.h"
#include "agent/shell/shells.h"
#include "common/asio_loop.h"
#include "common/config/token_file.h"
#include "common/log.h"
#include "common/machine/sdk_path.h"
#include "common/reload_log.h"
#include "common/service_manager.h"
#include "common/tls/pair_files.h"
#include "common/version.h"

namespace hai {
namespace {

constexpr int kOk = 0;
constexpr int kError = 1;
constexpr int kUsage = 2;

int fail(const Status& status) {
  fmt::print(stderr, "hai-agent: {}\n", status.message());
  return status.code() == Code::invalid_argument ? kUsage : kError;
}

GpuInventory gpus_of(const AgentConfig& config) {
  GpuInventory found = find_gpus(config.health.proc_root);
  if (config.simulate_gpus <= 0) return found;
  GpuInventory simulated = {.count = config.simulate_gpus, .model = config.simulate_gpu_model};
  // A recorded machine's have their places.
  if (found.count == simulated.count) simulated.pci_addresses = std::move(found.pci_addresses);
  return simulated;
}

NodeFacts make_facts(const AgentConfig& config, const GpuInventory& gpus) {
  NodeFacts facts = gather_host_facts(config.health.sys_root);
  if (!config.name.empty()) facts.name = config.name;
  if (!config.address.empty()) facts.address = config.address;
  facts.group = config.group;
  facts.zone = config.zone;
  facts.leaf = config.leaf;
  facts.labels = config.labels;
  facts.agent_version = version();
  facts.boot_id = node_boot_id(config.health);
  facts.gpus = gpus.count;
  facts.gpu_model = gpus.model;
  return facts;
}

// Without one the agent works as those do that have none: whoever bears the name may replace it.
std::string instance_of(const std::string& data_dir, const std::string& machine) {
  Result<std::string> instance = find_or_make_instance(data_dir, machine);
  if (instance.is_ok()) return std::move(instance).value();
  log_warning("instance_unknown", {{"data_dir", data_dir}, {"reason", instance.status()}});
  return "";
}

// The agent's config while it runs: what SIGHUP takes of it. One with an error changes nothing.
struct ReloadedConfig {
  const std::string path;
  ConfigKeys keys;  // what of the file is in force

  void read_again() {
    const Result<AgentConfig> now = read_agent_config(path);
    if (!now.is_ok()) return log_error("config_not_reloaded", {{"reason", now.status()}});
    const ConfigChange change = compare_configs(keys, now.value().keys, kReloadedAgentKeys);
    keys = keys_after(std::move(keys), now.value().keys, change);
    reload_log(now.value().log_level, now.value().log_file, change);
  }
};

// The ranks run on without us: their shims hold them, and their leases end on their own.
void heed_signals(AsioLoop& loop, ServiceManager& service_manager, ReloadedConfig& config) {
  loop.on_signals({SIGINT, SIGTERM}, [&](int signal) {
    log_info("agent_stopping", {{"signal", signal}});
    service_manager.stopping();
    loop.stop();
  });
  loop.on_signals({SIGHUP}, [&service_manager, &config](int) {
    service_manager.reload([&config] {
      config.read_again();
      const Status status = reopen_log_file();
      if (!status.is_ok()) log_warning("log_file_not_reopened", {{"reason", status}});
    });
  });
}

// At the port it had last, if the config leaves it open: that is the one the other agents know.
Result<std::unique_ptr<UdpPeers>> open_peers(const AgentConfig& config, const NodeFacts& facts,
                                             const std::string& token, AgentRecordFile& keeper,
                                             AsioLoop& loop) {
  // Agents believe each other by the keys that the server gives them and by the token. Without
  // either this agent asks and answers nobody, and its ranks end with its lease.
  UdpPeersOptions options{.node = facts.name,
                          .agent_token = token,
                          .address = facts.address,
                          .port = config.peer_port == 0 ? keeper.peer_port() : config.peer_port};
  Result<std::unique_ptr<UdpPeers>> peers = UdpPeers::open(loop.io_context(), options);
  if (!peers.is_ok() && config.peer_port == 0) {
    options.port = 0;
    peers = UdpPeers::open(loop.io_context(), options);
  }
  if (!peers.is_ok()) return peers;
  keeper.set_peer_port(peers.value()->port());
  peers.value()->set_keys(load_peer_keys(config.data_dir));
  return peers;
}

NodeUse use_of(const OsRankHost& host) {
  NodeUse use;
  for (const RankInUse& rank : host.ranks_in_use()) {
    use.gpus_in_use = use.gpus_in_use | rank.gpus;
    use.has_distributed_rank |= rank.is_distributed;
    if (rank.shim <= 0) continue;
    for (const pid_t pid : descendants_of(rank.shim)) use.rank_pids.push_back(pid);
    // Also those of logins, which are not below the shim.
    for (const pid_t pid : cgroup_processes(rank.cgroups)) use.rank_pids.push_back(pid);
  }
  return use;
}

// Null if the config wants no checks.
Result<std::unique_ptr<LocalHealth>> open_health(const AgentConfig& config, const NodeFacts& facts,
                                                 const OsRankHost& host,
                                                 const LogUploader* uploader, AsioLoop& loop) {
  if (!config.health.is_on) return std::unique_ptr<LocalHealth>();
  auto gpus = std::make_shared<GpuReadingBoard>();
  Result<std::vector<std::unique_ptr<Check>>> checks =
      make_node_checks({.config = config.health,
                        .data_dir = config.data_dir,
                        .boot_id = facts.boot_id,
                        .agent_version = facts.agent_version,
                        .gpu_board = gpus,
                        .simulated_gpus = config.simulate_gpus});
  if (!checks.is_ok()) return checks.status();
  if (uploader != nullptr) {
    checks.value().push_back(
        std::make_unique<LogStoreCheck>([board = uploader->board()] { return board->get(); }));
  }
  return std::make_unique<LocalHealth>(
      loop, std::move(checks).value(), config.hooks, facts.name, [&host] { return use_of(host); },
      gpus, config.data_dir, facts.boot_id);
}

Result<std::unique_ptr<LogUploader>> open_uploader(const AgentConfig& config,
                                                   const std::string& node, const OsRankHost& host,
                                                   AsioLoop& loop) {
  return LogUploader::open(loop,
                           {.upload = {.store = config.logs.path,
                                       .data_dir = config.data_dir,
                                       .node = node,
                                       .every = config.logs.every,
                                       .rank_bytes = config.logs.rank_bytes},
                            .rate_bytes = config.logs.rate_bytes,
                            .is_live = [&host](const RankKey& key) { return host.is_live(key); }});
}

// For now and for the agent after this one.
void take_peer_keys(const std::string& data_dir, const PeerKeys& keys, UdpPeers& peers) {
  peers.set_keys(keys);
  const Status status = save_peer_keys(data_dir, keys);
  if (!status.is_ok()) log_warning("peer_keys_not_kept", {{"reason", status}});
}

// For its certificate, and for the agent after this one.
void take_servers(const AgentConfig& config, const std::vector<std::string>& told,
                  CertificateRenewer& renewer) {
  renewer.set_servers(all_servers(config.servers, told));
  const Status status = save_servers(config.data_dir, told);
  if (!status.is_ok()) log_warning("servers_not_kept", {{"reason", status}});
}

CertificateRenewerOptions renewer_options_of(const AgentConfig& config, const NodeFacts& facts) {
  return {.servers = all_servers(config.servers, load_servers(config.data_dir)),
          .files = config.tls,
          .node = facts.name,
          .seed = std::random_device()()};
}

ServerLinkOptions link_options_of(const AgentConfig& config, const std::string& token,
                                  const NodeFacts& facts) {
  return {.servers = config.servers,
          .told_servers = load_servers(config.data_dir),
          .agent_token = token,
          .node = facts.name,
          .identity = identity_of(facts),
          .tls = [files = config.tls] { return read_tls_files(files); },
          .seed = std::random_device()()};
}

OsRankHostOptions host_options_of(const AgentConfig& config, const NodeFacts& facts,
                                  const GpuInventory& gpus, const std::string& cgroup_parent) {
  return {.data_dir = config.data_dir,
          .shim_path = config.shim,
          .unknown_user_runs_as_self = config.unknown_user_runs_as_self,
          .use_cgroups = config.cgroups,
          .confinement = config.confinement,
          .images = config.images,
          .node = {.gpus = facts.gpus,
                   .memory_bytes = facts.memory_bytes,
                   .gpu_minors = gpus.minors,
                   .gpu_places =
                       find_gpu_places(gpus.pci_addresses, usable_cpus(), config.health.sys_root),
                   .sys_root = config.health.sys_root},
          .cgroup_parent = cgroup_parent,
          .python_dir = config.python_dir.empty() ? default_python_dir() : config.python_dir,
          .validator_path = config.validator,
          .validator_options = config.validator_options};
}

Shells::Options shell_options_of(const AgentConfig& config, const std::string& token,
                                 const ImageSettings& images, const OsRankHost& host) {
  return {.data_dir = config.data_dir,
          .shim_path = config.shim.empty() ? default_shim_path() : config.shim,
          .agent_token = token,
          .images = images,
          .system_users = config.confinement.system_users,
          .is_live = [&host](const RankKey& key) { return host.is_live(key); }};
}

int run_agent(const AgentConfig& config, const std::string& path, const std::string& token,
              const std::string& cgroup_parent) {
  AsioLoop loop;
  ActivitySampler sampler(loop, config.health,
                          config.simulate_gpus == 0 || !config.health.nvml_library.empty());
  EvidenceTaker evidence(loop, config.health);
  const GpuInventory gpus = gpus_of(config);
  NodeFacts facts = make_facts(config, gpus);
  OsRankHostOptions host_options = host_options_of(config, facts, gpus, cgroup_parent);
  host_options.images.environment = environment_of_skopeo();
  const ImageSettings images = host_options.images;
  host_options.sample_activity = [&sampler](const RankInUse& rank) { return sampler.sample(rank); };
  host_options.take_evidence = [&evidence](const RankInUse& rank,
                                           OsRankHostOptions::EvidenceDone done) {
    evidence.take(rank, std::move(done));
  };
  std::unique_ptr<LogUploader> uploader;
  host_options.log_begins = [&uploader](const RankKey& key, const std::string& user) {
    if (uploader) uploader->begin(key, user);
  };
  Result<std::unique_ptr<OsRankHost>> host =
      OsRankHost::open(std::move(host_options), loop, loop.io_context());
  if (!host.is_ok()) return fail(host.status());
  OsLogSource logs(config.data_dir,
                   [&host = *host.value()](const RankKey& key) { return host.is_live(key); });
  if (!config.logs.path.empty()) {
    auto opened = open_uploader(config, facts.name, *host.value(), loop);
    if (!opened.is_ok()) return fail(opened.status());
    uploader = std::move(opened).value();
  }
  facts.instance = instance_of(config.data_dir, facts.machine);
  AgentRecordFile keeper(config.data_dir, facts.boot_id, loop);
  Result<std::unique_ptr<UdpPeers>> peers = open_peers(config, facts, token, keeper, loop);
  if (!peers.is_ok()) return fail(peers.status());
  facts.peer_port = peers.value()->port();
  Shells shells(loop, loop.io_context(), shell_options_of(config, token, images, *host.value()));
  CertificateRenewer renewer(loop, renewer_options_of(config, facts));
  ServerLinkOptions to_servers = link_options_of(config, token, facts);
  to_servers.told_of_servers = [&](const auto& told) { take_servers(config, told, renewer); };
  to_servers.peer_keys = [&](const PeerKeys& keys) {
    take_peer_keys(config.data_dir, keys, *peers.value());
  };
  to_servers.open_shell = [&](const auto&... what) { shells.open(what...); };
  GrpcServerLink link(loop, logs, std::move(to_servers));
  Result<std::unique_ptr<LocalHealth>> health =
      open_health(config, facts, *host.value(), uploader.get(), loop);
  if (!health.is_ok()) return fail(health.status());
  Agent agent(loop, {*host.value(), link, *peers.value(), keeper, health.value().get()}, facts);

  if (!config.tls.certificate.empty()) renewer.start();

  ServiceManager service_manager(loop);
  ReloadedConfig reloaded{.path = path, .keys = config.keys};
  heed_signals(loop, service_manager, reloaded);
  log_info("agent_started", {{"version", version()},
                             {"node", facts.name},
                             {"gpus", facts.gpus},
                             {"isolation", to_string(config.confinement.isolation)},
                             {"data_dir", config.data_dir}});
  agent.start();
  if (uploader) uploader->start();
  service_manager.ready();
  loop.run();
  log_info("agent_stopped");
  return kOk;
}

int start(const AgentConfig& config, const std::string& path, const FleetArguments& fleet,
          const std::string& cgroup_parent) {
  set_log_level(config.log_level);
  if (Status status = set_log_file(config.log_file); !status.is_ok()) return fail(status);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);  // until the loop takes it
  hide_from_own_user();
  Result<std::string> token =
      config.token_file.empty() ? std::string() : read_token_file(config.token_file);
  if (!token.is_ok()) return fail(token.status());
  finish_replacing(config.tls);
  if (Status status = read_tls_files(config.tls).status(); !status.is_ok()) return fail(status);
  if (fleet.nodes > 0) {
    const Status status = run_fleet(config, token.value(), fleet);
    return status.is_ok() ? kOk : fail(status);
  }
  return run_agent(config, path, token.value(), cgroup_parent);
}

// Of CLI11: what is wrong, or "".
std::string check_cgroup_path(const std::string& path) {
  return is_cgroup_path(path) ? "" : "must be names of [A-Za-z0-9._@:-] with / between: a/b.slice";
}

struct HealthOptions {
  bool is_asked = false;
  std::string format = "table";
  HealthOverrides overrides;
};

void add_health_options(CLI::App& app, HealthOptions& options) {
  app.add_flag("--check-health", options.is_asked,
               "look at this node once, print what is found, and exit: 0 if it is fit for jobs, "
               "1 if not: something fails of tier validate, drain or evict, or a check does not "
               "end. Faults of tier log and app are a program's own and leave it fit");
  app.add_option("-o,--output", options.format, "of --check-health and doctor")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.add_option("--sys-root", options.overrides.sys_root, "stands for /sys in health checks");
  app.add_option("--proc-root", options.overrides.proc_root,
                 "stands for /proc in health checks, and says when the node was started");
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

// What this machine, asked as who asks, would make of it.
void say_confinement(const AgentConfig& config, const std::string& cgroup_parent) {
  fmt::print("isolation: {}\n", to_string(config.confinement.isolation));
  CgroupHost cgroups(config.cgroups ? find_cgroup_mounts() : CgroupMounts{}, cgroup_parent,
                     "check-config");
  for (const std::string& what : missing_confinement(config.confinement, find_powers(cgroups))) {
    fmt::print("isolation: {}\n", what);
  }
}

int check_config(const AgentConfig& config, const std::string& path,
                 const std::string& cgroup_parent) {
  const std::vector<std::string> missing = missing_from(config);
  for (const std::string& line : missing) fmt::print(stderr, "{}: {}\n", path, line);
  for (const std::string& warning : warnings_of(config.tls)) {
    fmt::print(stderr, "{}: warning: tls.ca: {}\n", path, warning);
  }
  if (!missing.empty()) return kError;
  fmt::print("{}: ok\n", path);
  say_confinement(config, cgroup_parent);
  return kOk;
}

int run(int argc, char** argv) {
  CLI::App app{"hai-agent: runs the ranks of one node of a hai cluster"};
  app.set_version_flag("--version", "hai-agent " + std::string(version()));
  std::string path = "/etc/hai/agent.yaml";
  bool check_only = false;
  int simulate_gpus = 0;
  std::string cgroup_parent = OsRankHostOptions{}.cgroup_parent;
  FleetArguments fleet;
  app.add_option("--config", path, "config file")->capture_default_str();
  app.add_flag(
      "--check-config", check_only,
      "read the config, look whether the files it names are there, say what is wrong and what of "
      "its isolation this machine cannot do, and exit");
  app.add_option("--simulate-gpus", simulate_gpus, "pretend to have so many GPUs")
      ->check(CLI::Range(1, GpuSet::kMax));
  app.add_option("--cgroup", cgroup_parent,
                 "control group below which ranks get theirs, from the root of the hierarchy")
      ->check(check_cgroup_path)
      ->capture_default_str();
  add_fleet_options(app, fleet);
  HealthOptions health;
  add_health_options(app, health);
  JoinArguments join;
  add_join_command(app, join);
  const CLI::App* doctor = add_doctor_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  if (join.app->parsed()) {
    const Status status = join_cluster(join, path);
    return status.is_ok() ? kOk : fail(status);
  }
  if (doctor->parsed()) return examine_node(path, health.format == "json");
  const bool needs_config = !health.is_asked || app.count("--config") > 0;
  Result<AgentConfig> config =
      needs_config ? read_agent_config(path) : read_agent_config_if_any(path);
  if (!config.is_ok()) return fail(config.status());
  if (check_only) return check_config(config.value(), path, cgroup_parent);
  if (simulate_gpus > 0) config.value().simulate_gpus = simulate_gpus;
  apply(health.overrides, config.value().health);
  if (health.is_asked) return show_health(config.value(), health.format == "json");
  return start(config.value(), path, fleet, cgroup_parent);
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) { return hai::run(argc, argv); }
