#pragma once
// Where a cluster is that no context names yet: the options of `hai init` and `hai login`.

#include <string>
#include <vector>

#include "cli/context_config.h"

namespace CLI {
class App;
}

namespace hai::cli {

struct ClusterAddress {
  std::vector<std::string> urls;
  std::string ca;           // a file
  std::string fingerprint;  // of the CA that the servers show; instead of the file
  std::string name;         // of the context; "" = as the cluster calls itself
};

// --url, --ca and --name.
void add_address_options(CLI::App& verb, ClusterAddress& address, bool needs_url);

// A context without a token; an error says which option is wrong. Asks the servers for their CA if
// it is named by its fingerprint.
Result<Context> to_context(const ClusterAddress& address);

}  // namespace hai::cli
