#pragma once
// Outages of nodes, from a log of real ones (`node,start_s,end_s,...`). The servers of the log are
// laid over the nodes of the cluster, several times with different time rotations if there are more
// nodes than servers, and the log begins anew when it is over.

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

struct Outage {
  int node = 0;  // index in the cluster
  Duration start{0};
  Duration end{0};  // may be after the log's span
  std::string reason;
};

class Failures {
 public:
  Failures() = default;
  // `outages` of one span of time, which repeat.
  Failures(std::vector<Outage> outages, Duration span);

  bool is_empty() const { return outages_.empty(); }
  // The next outage by start time, for ever; the first ones may have begun at 0 already. The log
  // must not be empty.
  Outage next();

 private:
  std::vector<Outage> outages_;
  Duration span_{0};
  size_t index_ = 0;
  int64_t cycle_ = -1;
};

// `servers`: how many the log is about, those without outages included.
Result<Failures> read_failures(const std::string& path, int nodes, int servers);

}  // namespace hai
