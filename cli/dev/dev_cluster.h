#pragma once
// The processes of one dev cluster: PostgreSQL, hai-server, one hai-agent per node; started, found,
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

  Status start_postgres();
  // Returns when it listens.
  Status start_server();
  Status start_agent(const DevNode& node);

  std::optional<ProcessId> postgres() const { return postgres_.process(); }
  std::optional<ProcessId> server() const;
  std::optional<ProcessId> agent(const std::string& node) const;
  // Shims of the node, found by the pid files they write, and everything they and the agent have
  // started.
  std::vector<ProcessId> node_processes(const std::string& node) const;

  // SIGKILL. Returns once they are gone.
  void kill_postgres() { postgres_.kill_now(); }
  void kill_server();
  void kill_agent(const std::string& node);
  void kill_node(const std::string& node);

  // All of it, ranks first told to end; the data stays.
  Status stop();

  const DevNode* find_node(std::string_view name) const;

 private:
  std::vector<ProcessId> shims(const std::string& node) const;

  ClusterFiles files_;
  DevCluster cluster_;
  Postgres postgres_;
};

}  // namespace hai::cli
