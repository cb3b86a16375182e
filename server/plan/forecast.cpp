#include "server/plan/forecast.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "server/plan/order.h"
#include "server/plan/virtual_cluster.h"

namespace hai {
namespace {

constexpr Duration kSaveTime = 5s;  // of a program that has not reported any
// Events so near each other share a pass; the further ahead, the coarser.
constexpr Duration kWindowMin = 2s;
constexpr int64_t kWindowShare = 10;
// Time alone changes what the planner does: quanta end, classes rise.
constexpr Duration kTickMin = 60s;
constexpr int64_t kTickShare = 10;
constexpr size_t kWakesMax = 64;  // of the whole queue: each costs a pass

// Without GPUs only the live attempt is known of: what it ran before counts as to be run again.
Duration ran_for_all(const ClusterState& state, const Job& job, UnixTime now) {
  if (!job.spec->asks_gpus()) {
    const bool runs = job.has_live_attempt() && job.attempt->running_at;
    return runs ? Duration(now - *job.attempt->running_at) : Duration{0};
  }
  const int gpus = std::max(1, gpus_asked(state, job));
  return std::chrono::seconds(gpu_seconds_had(job, now) / gpus);
}

Duration save_time_of(const Job& job) {
  Duration save = kSaveTime;
  if (job.checkpoint && job.checkpoint->save_seconds > 0) {
    save = Duration(static_cast<int64_t>(std::min(job.checkpoint->save_seconds, 3600.0) * 1e6));
  }
  return std::min(save, job.spec->suspend.grace);
}

bool is_over(const ForecastOptions& options) { return options.is_over && options.is_over(); }

// One way the cluster may live on.
class Future {
 public:
  Future(const ClusterState& state, const Knobs& knobs, UnixTime now, const RunTimes& run_times,
         Rng rng)
      : cluster_(state, knobs, now), run_times_(run_times), rng_(rng), from_(now) {
    for (JobId id : cluster_.state().live()) foresee(id);
  }

  // There is a pass when this one may start at last, and not somewhere near.
  void wake_for(JobId id) {
    const Job& job = *cluster_.state().find(id);
    if (job.spec->begin_at) wakes_.insert(*job.spec->begin_at);
    if (const auto restart = job.restarts_at()) wakes_.insert(*restart);
  }

  // When the job starts; nullopt: not until the horizon or the last pass.
  std::optional<Duration> run_until_start(JobId job, const ForecastOptions& options, int& passes) {
    wake_for(job);
    run(options, passes, [&](const VirtualCluster::Moves&) {
      return cluster_.state().find(job)->has_live_attempt();
    });
    if (!cluster_.state().find(job)->has_live_attempt()) return std::nullopt;
    return cluster_.now() - from_;
  }

  // When each job starts that waits at the beginning, for the first time.
  void run_queue(const std::set<JobId>& waiting, const ForecastOptions& options, int& passes,
                 std::map<JobId, Duration>& starts) {
    for (JobId id : waiting) {
      if (wakes_.size() == kWakesMax) break;
      wake_for(id);
    }
    run(options, passes, [&](const VirtualCluster::Moves& moves) {
      for (JobId id : moves.started) {
        if (waiting.contains(id)) starts.try_emplace(id, cluster_.now() - from_);
      }
      return starts.size() == waiting.size();
    });
  }

 private:
  // Pass after pass, until `is_enough` says so, or the horizon, the last pass or the end of the
  // time is reached.
  template <typename IsEnough>
  void run(const ForecastOptions& options, int& passes, IsEnough is_enough) {
    for (int pass = 0; pass < options.passes_max && !is_over(options); ++pass) {
      ++passes;
      const VirtualCluster::Moves moves = cluster_.pass();
      if (is_enough(moves)) return;
      for (JobId id : moves.started) foresee(id);
      for (JobId id : moves.asked_to_leave) foresee(id);
      const Duration ahead = cluster_.now() - from_;
      if (ahead >= options.horizon) return;
      UnixTime next = cluster_.now() + std::max(kTickMin, ahead / kTickShare);
      if (moves.is_partial && !moves.is_none) next = cluster_.now() + 1s;
      const Duration window = std::max(kWindowMin, ahead / kWindowShare);
      if (!events_.empty() && events_.begin()->first <= next) {
        next = std::max(cluster_.now(), events_.begin()->first) + window;
      }
      if (const auto wake = wakes_.upper_bound(cluster_.now()); wake != wakes_.end()) {
        next = std::min(next, *wake);
      }
      happen_until(next);
    }
  }

  // What becomes of a live attempt: it ends by itself, or leaves when it has saved.
  void foresee(JobId id) {
    const Job& job = *cluster_.state().find(id);
    const Attempt& attempt = *job.attempt;
    if (attempt.end || attempt.state == AttemptState::suspending) {
      events_.emplace(cluster_.now() + save_time_of(job), id);
      return;
    }
    UnixTime end = cluster_.now() + left_of(job);
    if (job.spec->timeout > Duration{0} && attempt.running_at) {
      end = std::clamp(*attempt.running_at + job.spec->timeout, cluster_.now(), end);
    }
    events_.emplace(end, id);
  }

  // Drawn once: whoever is interrupted goes on with what was left.
  Duration left_of(const Job& job) {
    const Duration ran = ran_for_all(cluster_.state(), job, cluster_.now());
    auto [it, is_new] = totals_.try_emplace(job.id, Duration{0});
    if (is_new) {
      it->second = ran + run_times_.residual(job.user, job.spec->group,
                                             gpus_asked(cluster_.state(), job), ran, rng_.unit());
    }
    return std::max(Duration{1s}, it->second - ran);
  }

  void happen_until(UnixTime until) {
    while (!events_.empty() && events_.begin()->first <= until) {
      const auto [at, id] = *events_.begin();
      events_.erase(events_.begin());
      cluster_.advance_to(std::max(cluster_.now(), at));
      const Job* job = cluster_.state().find(id);
      if (job == nullptr || !job->has_live_attempt()) continue;  // Foreseen twice.
      const Attempt& attempt = *job->attempt;
      if (attempt.end && attempt.end->outcome != AttemptState::suspended) {
        cluster_.finish(id);
      } else if (attempt.state == AttemptState::suspending || attempt.end) {
        // An end before it has saved counts as a suspension, too.
        cluster_.suspend(id);
      } else if (left_of(*job) > 2s && !is_timed_out(*job)) {
        foresee(id);  // interrupted since, or told to go on: its end is later
      } else {
        cluster_.finish(id);
      }
    }
    cluster_.advance_to(std::max(cluster_.now(), until));
  }

  bool is_timed_out(const Job& job) const {
    return job.spec->timeout > Duration{0} && job.attempt->running_at &&
           cluster_.now() >= *job.attempt->running_at + job.spec->timeout;
  }

  VirtualCluster cluster_;
  const RunTimes& run_times_;
  Rng rng_;
  const UnixTime from_;
  std::map<JobId, Duration> totals_;
  std::set<std::pair<UnixTime, JobId>> events_;
  std::set<UnixTime> wakes_;
};

// Starts of all samples, the longest duration for those that saw none.
StartForecast forecast_of(std::vector<Duration> starts) {
  StartForecast forecast{.samples = static_cast<int>(starts.size())};
  if (starts.empty()) return forecast;
  std::ranges::sort(starts);
  auto at = [&](int percent) -> std::optional<Duration> {
    const size_t index = (starts.size() * percent + 99) / 100 - 1;
    return starts[index] == Duration::max() ? std::nullopt : std::optional(starts[index]);
  };
  forecast.p50 = at(50);
  forecast.p90 = at(90);
  return forecast;
}

}  // namespace

StartForecast forecast_start(const ClusterState& state, const Knobs& knobs, UnixTime now, JobId job,
                             const RunTimes& run_times, const ForecastOptions& options) {
  int passes = 0;
  Rng rng(static_cast<uint64_t>(job.value));
  std::vector<Duration> starts;  // beyond what was looked at = the longest there is
  for (int sample = 0; sample < options.samples; ++sample) {
    Future future(state, knobs, now, run_times, rng.fork());
    const auto start = future.run_until_start(job, options, passes);
    // What was broken off says nothing, unless it is all there is.
    if (!start && is_over(options) && !starts.empty()) break;
    starts.push_back(start.value_or(Duration::max()));
    if (is_over(options)) break;
  }
  StartForecast forecast = forecast_of(std::move(starts));
  forecast.passes = passes;
  return forecast;
}

QueueForecast forecast_queue(const ClusterState& state, const Knobs& knobs, UnixTime now,
                             const RunTimes& run_times, const ForecastOptions& options) {
  QueueForecast forecast;
  std::set<JobId> waiting;
  for (const auto& [order, id] : state.waiting()) {
    if (!state.find(id)->held) waiting.insert(id);
  }
  std::map<JobId, std::vector<Duration>> starts;
  Rng rng(static_cast<uint64_t>(state.last_seq()));
  for (int sample = 0; sample < options.samples; ++sample) {
    if (options.begins) options.begins(sample);
    if (is_over(options)) break;
    Future future(state, knobs, now, run_times, rng.fork());
    std::map<JobId, Duration> found;
    future.run_queue(waiting, options, forecast.passes, found);
    for (JobId id : waiting) {
      const auto start = found.find(id);
      starts[id].push_back(start == found.end() ? Duration::max() : start->second);
    }
    ++forecast.samples;
  }
  for (auto& [id, each] : starts) forecast.starts.emplace(id, forecast_of(std::move(each)));
  return forecast;
}

Duration expected_end(const ClusterState& state, const Job& job, UnixTime now,
                      const RunTimes& run_times, double rank) {
  const Attempt& attempt = *job.attempt;
  if (attempt.end || attempt.state == AttemptState::suspending) return save_time_of(job);
  Duration left = run_times.residual(job.user, job.spec->group, gpus_asked(state, job),
                                     ran_for_all(state, job, now), rank);
  if (job.spec->timeout > Duration{0} && attempt.running_at) {
    const Duration until_timeout = *attempt.running_at + job.spec->timeout - now;
    left = std::clamp(until_timeout, Duration{0}, left);
  }
  return left;
}

}  // namespace hai
