#pragma once
// The jobs of a year: job 0 runs all the time, the others keep the queue longer than the cluster is
// large. Drawn from the seed.

#include <vector>

#include "sim/trace/job_model.h"
#include "sim/trace/trace_file.h"

namespace hai {

struct YearJobs {
  int nodes = 0;       // of the cluster
  int long_nodes = 0;  // of job 0
  double days = 0;
};
inline constexpr int kYearUsers = 8;
inline constexpr int kLongJob = 0;  // the job that runs all the time

// How they save and restart.
JobModel year_job_model(uint64_t seed, int job);

std::vector<TraceJob> make_year_jobs(const YearJobs& year, uint64_t seed);

}  // namespace hai
