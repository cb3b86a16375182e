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
};

void add_join_command(CLI::App& app, JoinArguments& arguments);

// "sha256:HEX,sha256:HEX": the fingerprints, in lower case.
Result<std::vector<std::string>> parse_fingerprints(const std::string& text);

// `config`: the agent's config file; written if it is not there, else its tls section says which
// files to write. Writes nothing unless all went well before.
Status join_cluster(const JoinArguments& arguments, const std::string& config);

}  // namespace hai
