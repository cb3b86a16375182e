#include "agent/agent_config.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/confinement_config.h"
#include "agent/image_config.h"
#include "agent/login_config.h"
#include "agent/rpc/server_list.h"
#include "common/config/token_file.h"
#include "common/config/yaml_reader.h"
#include "common/gpu_set.h"
#include "common/host_port.h"
#include "common/hostlist.h"
#include "common/log_store/log_store.h"

namespace hai {

namespace {

void read_servers(YamlReader& reader, std::vector<std::string>* out) {
  reader.require("servers");
  if (!reader.strings("servers", out)) return;
  if (out->empty() || out->size() > kServersMax) {
    reader.fail("servers",
                fmt::format("must be 1 to {} servers, are {}", kServersMax, out->size()));
  }
  for (const std::string& server : *out) {
    if (!is_host_port(server)) {
      reader.fail("servers",
                  fmt::format("must be host:port, for example hai-server:7700, is {}", server));
    }
  }
}

void read_position(YamlReader& reader, AgentConfig* config) {
  if (reader.string("name", &config->name) && !config->name.empty() &&
      !is_node_name(config->name)) {
    reader.fail("name", fmt::format("must be 1 to 255 letters, digits and . _ -, is '{}'",
                                    std::string_view(config->name).substr(0, 255)));
  }
  reader.string("group", &config->group);
  reader.string("zone", &config->zone);
  reader.string("leaf", &config->leaf);
  reader.strings("labels", &config->labels);
  if (config->labels.size() > NodeFacts::kLabelsMax) {
    reader.fail("labels", fmt::format("{} labels, at most {} are allowed", config->labels.size(),
                                      NodeFacts::kLabelsMax));
  }
  for (const std::string& label : config->labels) {
    if (is_node_name(label)) continue;
    reader.fail("labels",
                fmt::format("must be 1 to 255 letters, digits and . _ - each, one is '{}'",
                            std::string_view(label).substr(0, 255)));
  }
  reader.string("address", &config->address);
  reader.integer("peer_port", &config->peer_port, {.low = 0, .high = 65'535});
}

void read_tls(YamlReader& reader, TlsFiles* tls) {
  reader.file("tls.ca", &tls->ca);
  reader.file("tls.certificate", &tls->certificate);
  reader.file("tls.key", &tls->key);
  if (tls->certificate.empty() != tls->key.empty()) {
    reader.fail("tls", "certificate and key belong together: one of them is missing");
  } else if (tls->ca.empty() && !tls->certificate.empty()) {
    reader.fail("tls.certificate", "needs tls.ca: whose certificates servers must show");
  } else if (tls->ca.empty() && reader.has("tls")) {
    reader.fail("tls", "needs ca; without the section there is no TLS");
  }
}

void read_log(YamlReader& reader, AgentConfig* config) {
  reader.string("log.file", &config->log_file);
  std::string level;
  if (!reader.string("log.level", &level)) return;
  Result<LogLevel> parsed = parse_log_level(level);
  if (!parsed.is_ok()) return reader.fail("log.level", parsed.status().message());
  config->log_level = parsed.value();
}

void read_log_store(YamlReader& reader, LogStoreConfig* logs) {
  if (reader.file("logs.store", &logs->path) && !logs->path.starts_with('/')) {
    reader.fail("logs.store", fmt::format("must be an absolute path, is {}", logs->path));
  }
  reader.duration("logs.every", &logs->every, {.low = 1s, .high = 24h});
  reader.bytes("logs.rate", &logs->rate_bytes, {.low = 64 << 10, .high = int64_t{1} << 40});
  reader.bytes("logs.rank_max", &logs->rank_bytes, {.low = 1 << 20, .high = int64_t{1} << 50});
  if (logs->path.empty() && reader.has("logs")) {
    reader.fail("logs", "needs store: the folder that all nodes share");
  }
}

Result<AgentConfig> read(YamlReader reader, const std::string& source) {
  AgentConfig config;
  config.keys = reader.keys();
  read_position(reader, &config);
  reader.require("data_dir");
  if (reader.string("data_dir", &config.data_dir) && !config.data_dir.starts_with('/')) {
    reader.fail("data_dir", fmt::format("must be an absolute path, is {}", config.data_dir));
  }
  read_servers(reader, &config.servers);
  read_tls(reader, &config.tls);
  bool plain_text = false;
  reader.boolean("plain_text", &plain_text);
  const bool is_local = std::ranges::all_of(config.servers, [](const std::string& server) {
    return is_loopback(split_host_port(server).host);
  });
  if (!is_local && !plain_text && !reader.has("tls")) {
    reader.fail("tls",
                "is missing, and the servers are other machines: whoever answers in their place "
                "would command this node. `hai-agent join` gives the node an identity "
                "(docs/operations/tls.md); `plain_text: true` goes without");
  }
  if (config.tls.certificate.empty()) reader.require("token_file");
  reader.file("token_file", &config.token_file);
  reader.integer("simulate_gpus", &config.simulate_gpus, {.low = 0, .high = GpuSet::kMax});
  reader.string("simulate_gpu_model", &config.simulate_gpu_model);
  reader.string("shim", &config.shim);
  reader.string("validator.program", &config.validator);
  reader.string("validator.options", &config.validator_options);
  reader.string("repair.reset_gpus", &config.hooks.reset_gpus);
  reader.string("repair.reboot", &config.hooks.reboot);
  reader.string("python_dir", &config.python_dir);
  reader.boolean("unknown_user_runs_as_self", &config.unknown_user_runs_as_self);
  reader.boolean("cgroups", &config.cgroups);
  read_confinement(reader, &config.confinement);
  read_images(reader, config.data_dir, &config.images);
  read_login(reader, &config.login);
  read_log_store(reader, &config.logs);
  read_log(reader, &config);
  read_health_config(reader, &config.health);
  RETURN_IF_ERROR(to_status(reader.finish(), source));
  return config;
}

}  // namespace

Result<AgentConfig> parse_agent_config(std::string_view text, const std::string& source) {
  return read(YamlReader(text), source);
}

Result<AgentConfig> read_agent_config(const std::string& path) {
  Result<YamlReader> reader = YamlReader::from_file(path);
  if (!reader.is_ok()) return reader.status();
  return read(std::move(reader).value(), path);
}

std::vector<std::string> missing_from(const AgentConfig& config) {
  std::vector<std::string> missing;
  const bool has_token = !config.token_file.empty();
  if (const Status status = has_token ? read_token_file(config.token_file).status() : ok();
      !status.is_ok()) {
    missing.push_back(fmt::format("token_file: {}", status.message()));
  }
  if (const Status status = read_tls_files(config.tls).status(); !status.is_ok()) {
    missing.push_back(fmt::format("tls: {}", status.message()));
  }
  for (const auto& [key, program] :
       {std::pair("shim", &config.shim), std::pair("validator.program", &config.validator)}) {
    if (!program->empty() && ::access(program->c_str(), X_OK) != 0) {
      missing.push_back(fmt::format("{}: no program {}", key, *program));
    }
  }
  const std::string log_folder = std::filesystem::path(config.log_file).parent_path();
  for (const auto& [key, folder] :
       {std::pair("python_dir", &config.python_dir), std::pair("log.file", &log_folder)}) {
    std::error_code error;
    if (!folder->empty() && !std::filesystem::is_directory(*folder, error)) {
      missing.push_back(fmt::format("{}: no folder {}", key, *folder));
    }
  }
  for (const auto& [key, file] : {std::pair("health.xid_table", &config.health.xid_table),
                                  std::pair("health.kernel_table", &config.health.kernel_table)}) {
    if (!file->empty() && ::access(file->c_str(), R_OK) != 0) {
      missing.push_back(fmt::format("{}: cannot read {}", key, *file));
    }
  }
  for (const std::string& group : unknown_groups(config.login.admin_groups)) {
    missing.push_back(fmt::format("login.admin_groups: no group {}", group));
  }
  const Status store = config.logs.path.empty() ? ok() : LogStore::open(config.logs.path).status();
  if (!store.is_ok()) missing.push_back(fmt::format("logs.store: {}", store.message()));
  return missing;
}

}  // namespace hai
