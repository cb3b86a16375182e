#pragma once
// When a waiting job will start: the same planner is run forward on a copy, several times, with run
// times drawn from what was learned. Jobs that are not submitted yet are not foreseen:
// EstimateCalibration makes up for that. The same input gives the same answer on every machine,
// unless its time is up before.

#include <functional>
#include <map>
#include <optional>

#include "common/knobs.h"
#include "server/model/cluster_state.h"
#include "server/plan/run_times.h"

namespace hai {

struct ForecastOptions {
  int samples = 9;
  Duration horizon = 14 * 24h;
  int passes_max = 400;  // of each sample
  // Whoever has not all the time in the world says when it is up; what was found until then counts.
  std::function<bool()> is_over;
  // Told before each sample of forecast_queue, so that the time can be shared out among them.
  std::function<void(int sample)> begins;
};

struct StartForecast {
  // From now; nullopt: beyond what was looked at.
  std::optional<Duration> p50;
  std::optional<Duration> p90;
  int samples = 0;
  int passes = 0;  // what it cost
};

// The job must wait.
StartForecast forecast_start(const ClusterState& state, const Knobs& knobs, UnixTime now, JobId job,
                             const RunTimes& run_times, const ForecastOptions& options = {});

// The same for all waiting jobs at once, out of the same futures. Whatever had not started when a
// sample was broken off is beyond what was looked at.
struct QueueForecast {
  std::map<JobId, StartForecast> starts;  // `passes` are 0
  int samples = 0;
  int passes = 0;
};
QueueForecast forecast_queue(const ClusterState& state, const Knobs& knobs, UnixTime now,
                             const RunTimes& run_times, const ForecastOptions& options = {});

// When the attempt of a running job ends if nobody interrupts it: the quantile `rank` (0..1), from
// now.
Duration expected_end(const ClusterState& state, const Job& job, UnixTime now,
                      const RunTimes& run_times, double rank);

}  // namespace hai
