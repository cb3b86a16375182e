#pragma once
// The processes of one dev cluster: PostgreSQL, hai-server, one hai-agent per node or one for a
// fleet of them; started, found,
// stopped and killed. Every step is idempotent: what runs is left alone.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/dev/cluster_files.h"
#include "cli/dev/cluster_state.h"
#include "cli/dev/postgres.h"
#include "cli/dev/process.h"

namespace hai::cli {

class DevClusterProcesses {
 public:
  DevClusterProcesses(const std::string& data, DevCluster cluster)
      : files_{data}, cluster_(std::move(cluster)), postgres_(files_, cluster_) {}
  DevClusterProcesses(const DevClusterProcesses&) = delete;
  DevClusterProcesses& operator=(const DevClusterProcesses&) = delete;

  const DevCluster& cluster() const { return cluster_; }
  const ClusterFiles& files() const { return files_; }
  std::string conninfo() const { return postgres_.conninfo(); }

  // Makes the authority, the server's pair and the nodes', those that are missing or soon over.
  Status issue_certificates() const;
  // Whom to believe; none without TLS.
  Result<TlsTexts> tls() const;
  Status start_postgres();
  // Returns when it leads: what is asked next is answered.
  Status start_server();
  Status start_nodes();  // all of them
  // Of a fleet: the node is whole again.
  Status start_agent(const DevNode& node);
  Status start_fleet();

  std::optional<ProcessId> postgres() const { return postgres_.process(); }
  std::optional<ProcessId> server() const;
  std::optional<ProcessId> fleet() const;
  // Of a fleet: the one process of all.
  std::optional<ProcessId> agent(const std::string& node) const;
  // SIGKILL. Returns once they are gone.
  void kill_postgres() { postgres_.kill_now(); }
  void kill_server();
  void kill_fleet();
  Status kill_agent(const std::string& node);
  Status kill_node(const std::string& node);
  // What a fleet answers to a command of agent/fleet/fleet_control.h.
  Result<std::string> tell_fleet(const std::string& command) const;

  // All of it; the data stays. Ranks are killed: their jobs are lost attempts and run again.
  Status stop();

  const DevNode* find_node(std::string_view name) const;

 private:
  Status stop_nodes();
  std::vector<std::string> agent_words(const std::string& program, const DevNode& node) const;

  ClusterFiles files_;
  DevCluster cluster_;
  Postgres postgres_;
};

}  // namespace hai::cli
