#pragma once
// Jobs, nodes and totals as people see them: the fields of proto/hai/v1/types.proto, ready for
// protobuf and JSON.

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/control/sessions.h"
#include "server/model/cluster_state.h"
#include "server/model/reason.h"
#include "server/plan/planner.h"

namespace hai {

struct JobView {
  int64_t id = 0;
  std::string name;
  std::string user;
  std::string group;
  Priority priority = Priority::automatic;
  JobState state = JobState::queued;
  bool held = false;
  int node_count = 0;
  int gpus_per_node = 0;  // as asked; 0 = the whole node
  UnixTime submitted_at{};
  std::optional<UnixTime> started_at;
  std::optional<UnixTime> ended_at;
  int attempt = 0;
  std::string attempt_state;                    // "" if it never had one
  std::optional<PendingReason> pending_reason;  // exactly for waiting jobs
  std::optional<int> exit_code;                 // exactly for finished jobs
  std::string end_reason;
  std::vector<std::string>
      nodes;  // of the live attempt, or of the last one of a finished job; by rank
  JobCounters counters;
  std::optional<UnixTime> running_at;  // since when the live attempt runs
  std::optional<CheckpointInfo> checkpoint;
  std::optional<int64_t> progress_step;
  std::string whole_life_state;
  std::string last_attempt_reason;  // why the last attempt ended or is being suspended
  std::optional<UnixTime> suspend_deadline;
  std::shared_ptr<const JobSpec> spec;
  std::optional<ArrayTask> array_task;
  ArrayCounts array;  // if it is one
};

struct NodeView {
  Node node;
  std::vector<int64_t> jobs;
  int gpus_free = 0;      // of an open node that is up; held ones are not free
  HostAmounts host_free;  // what jobs can be given of CPUs and memory, likewise
  std::string health;     // "ok" while no check says otherwise
  int lemon_score = 0;
  std::string lemon_text;
  // Also those that are well, if asked for and known; sorted by name and subject.
  std::vector<NodeCheck> checks;
  std::vector<GpuReading> gpu_readings;  // by index, while its agent is connected
};

struct ClusterView {
  std::string name;
  int64_t epoch = 0;
  int gpus_total = 0;
  int gpus_used = 0;
  int gpus_free = 0;
  int gpus_held = 0;      // promised to a job whose victims are leaving
  int gpus_unusable = 0;  // free GPUs of nodes that are not up and open
  // CPUs and bytes of memory.
  struct Amount {
    int64_t total = 0;
    int64_t used = 0;  // given to jobs
    int64_t free = 0;  // what jobs can be given on nodes that are up and open
  };
  Amount cpus;
  Amount memory_bytes;
  std::map<std::string, int> nodes_by_liveness;
  std::map<std::string, int> nodes_by_scheduling;
  std::map<std::string, int64_t> jobs_by_state;  // jobs in memory
};

// Soft facts that are not in the state.
struct SoftFacts {
  const Planner* planner = nullptr;
  const std::map<JobId, int64_t>* progress = nullptr;
  const Sessions* sessions = nullptr;
  UnixTime now{};
  bool is_listening = false;  // nothing starts yet: nodes are to report first (design/0006)
  int lemon_person_max = std::numeric_limits<int>::max();  // server/model/lemon_score.h
};

// Of a job that waits.
PendingReason waiting_reason(const ClusterState& state, const Job& job, const SoftFacts& soft);
JobView view_job(const ClusterState& state, const Job& job, const SoftFacts& soft);
NodeView view_node(const Node& node, const SoftFacts& soft);
ClusterView view_cluster(const ClusterState& state, const std::string& name);

}  // namespace hai
