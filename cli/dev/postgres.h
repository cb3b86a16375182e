#pragma once
// The private PostgreSQL of a dev cluster: own data directory, a Unix socket that only its user
// (and root) can reach, no port. fsync stays on: what the server has acknowledged survives kill -9
// here too.

#include <optional>
#include <string>
#include <vector>

#include "cli/dev/cluster_files.h"
#include "cli/dev/cluster_state.h"
#include "cli/dev/process.h"

namespace hai::cli {

class Postgres {
 public:
  Postgres(const ClusterFiles& files, const DevCluster& cluster)
      : files_(files), cluster_(cluster) {}

  // Where data and socket of a new cluster go, and who it runs as.
  static Status choose_places(const ClusterFiles& files, DevCluster& cluster);

  // Makes the data directory if there is none, starts it, waits until it answers and has the
  // database. Does nothing if it runs.
  Status start(Duration limit);
  // Fast shutdown.
  Status stop();
  // SIGKILL of the postmaster and all its children.
  void kill_now();
  std::optional<ProcessId> process() const;

  std::string conninfo() const;

 private:
  Status initialise(const std::string& bin);
  Status remove_stale_lock() const;
  Status wait_until_ready(const std::string& bin, const ProcessId& process, Duration limit) const;
  Status create_database(const std::string& bin) const;
  Program program(std::vector<std::string> words) const;

  const ClusterFiles& files_;
  const DevCluster& cluster_;
};

}  // namespace hai::cli
