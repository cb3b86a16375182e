#include "sim/year/year_workload.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hai {
namespace {

constexpr double kShortestHours = 1;
constexpr double kLongestHours = 72;

struct Size {
  int nodes = 1;
  double share = 0;  // of the jobs
};
constexpr std::array kSizes{Size{1, 0.40},  Size{2, 0.15},  Size{4, 0.15}, Size{8, 0.12},
                            Size{16, 0.10}, Size{32, 0.05}, Size{64, 0.03}};

int draw_nodes(Rng& rng, int most) {
  double draw = rng.unit();
  for (const Size& size : kSizes) {
    if (draw < size.share) return std::min(size.nodes, most);
    draw -= size.share;
  }
  return 1;
}

Duration of_hours(double hours) { return Duration(static_cast<int64_t>(hours * 3.6e9)); }

}  // namespace

std::vector<TraceJob> make_year_jobs(const YearJobs& year, uint64_t seed) {
  Rng rng(seed);
  std::vector<TraceJob> jobs;
  // It outlasts the year.
  jobs.push_back({.work = of_hours(year.days * 48 + 48), .nodes = std::max(1, year.long_nodes)});
  const int most = std::max(1, year.nodes / 16);
  const double wanted = 1.5 * year.nodes * (year.days + 5) * 24;  // node-hours
  for (double made = 0; made < wanted;) {
    const double hours = kShortestHours * std::pow(kLongestHours / kShortestHours, rng.unit());
    const int nodes = draw_nodes(rng, most);
    jobs.push_back(
        {.work = of_hours(hours), .nodes = nodes, .user = static_cast<int>(rng.below(kYearUsers))});
    made += hours * nodes;
  }
  return jobs;
}

// The long one saves every 5 minutes as Fire-Flyer's did, loads in seconds and starts in a minute.
JobModel year_job_model(uint64_t seed, int job) {
  if (job != kLongJob) return job_model(seed, job, 0.8);
  return {.checkpoint_period = 5min, .save = 10s, .restart = 60s, .saves_when_asked = true};
}

}  // namespace hai
