#pragma once
// Where a dev cluster keeps what. All of it lies below one data directory, except PostgreSQL's when
// its user could not get there.

#include <string>

#include "common/tls/authority_folder.h"

namespace hai::cli {

struct ClusterFiles {
  std::string data;

  std::string state() const { return data + "/cluster.json"; }
  std::string lock() const { return data + "/lock"; }
  std::string logs() const { return data + "/log"; }
  std::string log_of(const std::string& process) const { return logs() + "/" + process + ".log"; }
  std::string log_store() const { return data + "/log-store"; }  // of the jobs' logs
  std::string pids() const { return data + "/run"; }
  std::string pid_of(const std::string& process) const { return pids() + "/" + process + ".pid"; }
  std::string server_config() const { return data + "/server.yaml"; }
  std::string admin_token() const { return data + "/admin.token"; }
  std::string secrets_key() const { return data + "/secrets.key"; }
  // As `hai-server ca` keeps one.
  AuthorityFolder ca() const { return AuthorityFolder(data + "/ca"); }
  std::string agent_token() const { return data + "/agent.token"; }
  std::string node(const std::string& name) const { return data + "/nodes/" + name; }
  std::string fleet_config() const { return data + "/fleet.yaml"; }
  std::string fleet_socket() const { return data + "/fleet.sock"; }
  std::string agent_config(const std::string& name) const { return node(name) + "/agent.yaml"; }
};

// $XDG_DATA_HOME/hai/dev/NAME, ~/.local/share/hai/dev/NAME; for root /var/lib/hai/dev/NAME, since
// PostgreSQL does not run as root and no other user can enter root's home.
std::string default_data_directory(const std::string& name);

}  // namespace hai::cli
