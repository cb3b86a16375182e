#pragma once
// A year of faults in virtual time: the production controller, planner and health code on a fleet
// whose hardware breaks and is mended, under more work than it can do. The same inputs give the
// same digest.

#include <functional>

#include "common/knobs.h"
#include "sim/trace/cluster_file.h"
#include "sim/trace/failures_file.h"
#include "sim/year/year_measures.h"

namespace hai {

struct YearOptions {
  double days = 365;
  uint64_t seed = 1;
  int long_job_nodes = 128;  // of the job that runs all the time; 0 = none
  Knobs knobs;
  // Gets all events, in order; may be empty.
  std::function<void(const std::vector<Event>&)> on_events;
  std::function<void(double day)> progress;
};

// The knobs of a year: production's, but for ticks of a minute and a lease that nobody contests.
Knobs year_knobs();

YearMeasures run_year(const TraceCluster& cluster, Failures failures, const YearOptions& options);

}  // namespace hai
