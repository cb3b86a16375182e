#pragma once
// What a setup is to bring about, decided before anything is changed: from flags and answers, from
// a config that is there, or from the bundle of the cluster's first server.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "server/server_config.h"
#include "server/setup/cluster_database.h"
#include "server/setup/setup_options.h"
#include "server/setup/unix_user.h"

namespace hai {

struct SetupPlan {
  std::string path;    // of server.yaml
  std::string folder;  // its folder
  ServerConfig config;
  std::string text;                          // to be written as server.yaml; "" = it is there
  bool is_founding = false;                  // a new cluster: CA, keys and database may be made
  bool is_resumed = false;                   // founded by a setup that has not ended yet
  ClusterMark mark;                          // of the cluster
  std::map<std::string, std::string> files;  // of the bundle, by path
  std::vector<std::string> names;            // of this server
  bool checks_names = false;                 // a certificate that is there must be for them
  std::optional<LocalDatabase> local;        // to be made on this machine
  UnixUser user;                             // whom the server runs as
  std::string nodes;                         // that may join from now on; "" = none

  // The cluster's own first one: backups, the first token and what comes next belong to it.
  bool is_first_setup() const { return is_founding || is_resumed; }
};

// Changes nothing. Takes what is told as complete_options() and check_options() leave it.
Result<SetupPlan> make_setup_plan(SetupOptions options);

// server.yaml of a new cluster.
std::string new_config_text(const SetupOptions& options, const std::string& folder,
                            const std::string& conninfo);
// server.yaml of a further server: as the bundle's, but for what is a server's own.
std::string further_config_text(const std::string& bundled, const SetupOptions& options,
                                const std::string& folder);

}  // namespace hai
