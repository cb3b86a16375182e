#pragma once
// Where waiting jobs stand in the queue of their node group, for people: a job behind another one
// may still start first, where the other does not fit. The usage of users is what has been settled:
// attempts that run count when they end.

#include <optional>
#include <vector>

#include "common/knobs.h"
#include "server/model/cluster_state.h"

namespace hai {

// How many waiting jobs of its node group may run and come before it; nullopt if it may not run
// itself (held, dependencies, begin_at) or has nodes held for it already.
std::optional<int> jobs_before(const ClusterState& state, const Knobs& knobs, UnixTime now,
                               JobId job);

// How many come before a job, by the first thing of the order (plan/order.h) that says so.
struct JobsAhead {
  int by_priority = 0;
  int by_class = 0;
  int by_usage = 0;
  int by_age = 0;  // their place among what is otherwise alike
  bool operator==(const JobsAhead&) const = default;
};
struct QueuePlace {
  JobId job;
  int position = 0;  // from 1; 0 = may not run, or has nodes held for it
  JobsAhead ahead;   // of all positions before it
  int feedback_class = 0;
  bool operator==(const QueuePlace&) const = default;
};
// All waiting jobs: those that may run by node group and in order, then the rest by id.
std::vector<QueuePlace> queue_places(const ClusterState& state, const Knobs& knobs, UnixTime now);

}  // namespace hai
