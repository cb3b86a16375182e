#pragma once
// What hai-agent is told: its config file, read whole, with every error at once.

#include <string>
#include <vector>

#include "agent/health/health_config.h"
#include "agent/login/login_settings.h"
#include "agent/os/confinement.h"
#include "agent/os/image_file.h"
#include "agent/site_hook.h"
#include "common/log.h"
#include "common/status.h"
#include "common/time.h"
#include "common/tls/tls_files.h"

namespace hai {

// Where the logs of ranks go so that they outlive this node.
struct LogStoreConfig {
  std::string path;                // "" = nowhere
  Duration every{30s};             // a running rank's
  int64_t rate_bytes = 16 << 20;   // of text a second, of all ranks
  int64_t rank_bytes = 256 << 20;  // of one rank, compressed; the oldest go
};

struct AgentConfig {
  std::string name;  // "" = this host's name
  std::string group = "training";
  std::string zone;
  std::string leaf;
  std::vector<std::string> labels;  // what jobs may ask for
  std::string address;              // where other ranks reach this node; "" = this host's name
  int peer_port = 0;  // UDP, where other agents ask after its lease; 0 = any, kept over restarts
  std::string data_dir;
  std::vector<std::string> servers;  // host:port
  std::string token_file;  // "" = the certificate proves enough, and no other agent is asked
  TlsFiles tls;            // whom it believes, and what it proves by
  int simulate_gpus = 0;   // 0 = the real ones
  std::string simulate_gpu_model = "simulated";
  std::string shim;               // "" = where this installation has it
  std::string validator;          // the same of hai-validator
  std::string validator_options;  // such as "--quick"; what the site wants of it
  SiteHooks hooks;
  std::string python_dir;  // where the Python modules hai and hfai are; "" = installed system-wide
  bool unknown_user_runs_as_self = false;
  bool cgroups = true;
  ConfinementSettings confinement;
  ImageSettings images;
  LoginSettings login;  // for hai-pam
  LogStoreConfig logs;
  LogLevel log_level = LogLevel::info;
  std::string log_file;  // "" = stderr
  HealthConfig health;
  ConfigKeys keys;  // as the file has them
};

// What SIGHUP takes anew from the file; all others wait for a restart. docs/operations/units.md has
// the same table.
inline constexpr std::string_view kReloadedAgentKeys[] = {"log.file", "log.level"};

// invalid_argument with one line per error, each with its line number.
Result<AgentConfig> parse_agent_config(std::string_view text, const std::string& source);
Result<AgentConfig> read_agent_config(const std::string& path);
// What it names and is not there, a line each, with its key. Looks at files and groups of users
// only.
std::vector<std::string> missing_from(const AgentConfig& config);

}  // namespace hai
