#pragma once
// What a look ahead needs of the live state, copied in one go so that the controller can go on.

#include <cstddef>
#include <string>
#include <vector>

#include "common/knobs.h"
#include "server/model/cluster_state.h"

namespace hai {

struct SnapshotOptions {
  JobId focus;  // a waiting job: those before it in the order come first
  size_t waiting_max = 2'000;
  std::vector<JobId> also;  // jobs that are copied in any case, finished ones too
  // Arrays that are copied so that tasks of theirs may be made: with all of their unfinished tasks,
  // and so are those whose tasks theirs wait for. Of other arrays only the counts are copied.
  std::vector<JobId> arrays;
  std::string secrets_of;  // whose secrets are copied, without what they hold
};

// Nodes, people, quotas, all jobs with a live attempt or a reservation, and the waiting jobs that
// come first; held ones only if named. ClusterState(copy) is a state of its own.
StoredState copy_for_planning(const ClusterState& state, const Knobs& knobs, UnixTime now,
                              const SnapshotOptions& options);

}  // namespace hai
