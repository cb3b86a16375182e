#include "agent/agent_config.h"

#include <charconv>

#include "common/config/yaml_reader.h"
#include "common/gpu_set.h"

namespace hai {

namespace {

constexpr size_t kServersMax = 16;

bool is_host_port(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  int port = 0;
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data() + colon + 1, end, port);
  return parsed.ec == std::errc() && parsed.ptr == end && port >= 1 && port <= 65'535;
}

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
  reader.string("name", &config->name);
  reader.string("group", &config->group);
  reader.string("zone", &config->zone);
  reader.string("leaf", &config->leaf);
  reader.string("address", &config->address);
  reader.integer("peer_port", &config->peer_port, {.low = 0, .high = 65'535});
}

void read_log(YamlReader& reader, AgentConfig* config) {
  reader.string("log.file", &config->log_file);
  std::string level;
  if (!reader.string("log.level", &level)) return;
  Result<LogLevel> parsed = parse_log_level(level);
  if (!parsed.is_ok()) return reader.fail("log.level", parsed.status().message());
  config->log_level = parsed.value();
}

Result<AgentConfig> read(YamlReader reader, const std::string& source) {
  AgentConfig config;
  read_position(reader, &config);
  reader.require("data_dir");
  if (reader.string("data_dir", &config.data_dir) && !config.data_dir.starts_with('/')) {
    reader.fail("data_dir", fmt::format("must be an absolute path, is {}", config.data_dir));
  }
  read_servers(reader, &config.servers);
  reader.require("token_file");
  reader.string("token_file", &config.token_file);
  reader.integer("simulate_gpus", &config.simulate_gpus, {.low = 0, .high = GpuSet::kMax});
  reader.string("shim", &config.shim);
  reader.string("validator.program", &config.validator);
  reader.string("validator.options", &config.validator_options);
  reader.string("repair.reset_gpus", &config.hooks.reset_gpus);
  reader.string("repair.reboot", &config.hooks.reboot);
  reader.string("python_dir", &config.python_dir);
  reader.boolean("unknown_user_runs_as_self", &config.unknown_user_runs_as_self);
  reader.boolean("cgroups", &config.cgroups);
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

}  // namespace hai
