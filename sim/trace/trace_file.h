#pragma once
// A job trace: who submitted what when, and how long it ran. The CSV columns are job_id, submit_s,
// gpus, duration_s and, as far as known, nodes_hint, user, vc, status, priority_hint, failure_hint.

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "sim/trace/cluster_file.h"

namespace hai {

struct TraceJob {
  Duration submit{0};  // from the beginning of the replay
  Duration work{0};    // run time without queueing, 1 s at least
  int nodes = 1;
  int gpus_per_node = 0;  // 1, 2 or 4: a share of a node; 0: whole nodes
  int user = 0;           // index into Trace::users
};

struct Trace {
  std::vector<TraceJob> jobs;  // by submit time
  std::vector<std::string> users;
  // Jobs of the chosen days that are not replayed.
  int64_t unknown_duration = 0;
  int64_t too_large = 0;
};

struct TraceChoice {
  int64_t limit = 0;  // jobs; 0 = all
  double from_day = 0;
  double days = 0;  // 0 = to the end
  double load = 1;  // submit times are divided by it
};

// How many GPUs a job gets on a cluster of such nodes: 1, 2 or 4 as a share of one, or whole nodes.
struct JobShape {
  int nodes = 1;
  int gpus_per_node = 0;
  bool operator==(const JobShape&) const = default;
};
JobShape shape_of(double gpus, int gpus_of_node);
inline int gpus_of(const TraceJob& job, int gpus_of_node) {
  return job.nodes * (job.gpus_per_node == 0 ? gpus_of_node : job.gpus_per_node);
}

Result<Trace> read_trace(const std::string& path, const TraceChoice& choice,
                         const TraceCluster& cluster);

}  // namespace hai
