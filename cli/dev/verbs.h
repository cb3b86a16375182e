#pragma once
// hai dev up|down|status|kill|start. Each returns the exit code.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "common/status.h"

namespace hai::cli {

class Session;

// Which dev cluster is meant.
struct DevPlace {
  // "" = the context that was asked for (--context, HAI_CONTEXT), else the current one if it is a
  // dev cluster, else "dev".
  std::string name;
  std::string data;  // "" = as remembered for the name, else the default place
};

struct DevUpOptions {
  DevPlace place;
  std::optional<int> nodes;
  std::optional<int> gpus;
  std::optional<int> fleet;  // so many nodes in one process, instead of `nodes`
  std::optional<double> rank_seconds;
  std::string topology;      // a file, or the name of a shape
  bool is_insecure = false;  // without TLS; false = as before, a new one with it
  int grpc_port = 0;         // 0 = as before, or any free one
  int http_port = 0;
  // "PATH" for all nodes, "NODE=PATH" for one; options of hai-agent without their dashes.
  std::map<std::string, std::vector<std::string>> health_roots;
  std::vector<std::string> agent_settings;  // YAML files in the same form
  std::vector<std::string> knobs;           // "agent_lease=10s", kept for the next start
};

int dev_up(Session& session, const DevUpOptions& options);
int dev_down(Session& session, const DevPlace& place, bool purge);
int dev_status(Session& session, const DevPlace& place, OutputFormat output);
// Targets: server, postgres, fleet, agent:NODES, node:NODES.
int dev_kill(Session& session, const DevPlace& place, const std::vector<std::string>& targets);
int dev_start(Session& session, const DevPlace& place, const std::vector<std::string>& targets);
// Faults for a fleet: the words of one command (agent/fleet/fleet_control.h).
int dev_fleet(Session& session, const DevPlace& place, const std::vector<std::string>& words);

// The name and the absolute data directory that `place` means; it need not exist yet.
Result<DevPlace> resolve_place(const Session& session, const DevPlace& place);

// Held while one command changes the cluster; released with the process.
Result<int> lock_cluster(const std::string& data);

}  // namespace hai::cli
