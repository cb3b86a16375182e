#pragma once
// hai-agent join: makes this machine a node of a cluster. Its key is made here and stays here; a
// join token gets it a certificate for its name.

#include <string>
#include <vector>

#include "common/status.h"

namespace CLI {
class App;
}

namespace hai {

inline constexpr const char* kAgentUnit = "hai-agent.service";
inline constexpr const char* kAgentUnitConfig = "/etc/hai/agent.yaml";  // what the unit starts with
// Where the unit has its ranks go.
inline constexpr const char* kAgentUnitCgroup = "hai.slice/hai-ranks.service";

struct JoinArguments {
  CLI::App* app = nullptr;           // the subcommand
  std::vector<std::string> servers;  // host:port each; the first that answers is asked
  std::string token;                 // "-" = the first line of standard input
  std::string name;                  // "" = as the config says, or this host's
  std::string ca;                    // file; or
  std::string fingerprint;           // "sha256:HEX", or several with commas
  std::string group;
  std::string zone;
  std::string leaf;
  std::string table;   // file: group, zone and leaf of each node
  bool once = false;   // does nothing if the node has a certificate that is in force
  bool starts = true;  // enables and starts the unit, where systemd is and it reads this config
};

void add_join_command(CLI::App& app, JoinArguments& arguments);

// `config`: the agent's config file; written if it is not there, else its tls section says which
// files to write. Writes nothing unless all went well before.
Status join_cluster(const JoinArguments& arguments, const std::string& config);

}  // namespace hai
