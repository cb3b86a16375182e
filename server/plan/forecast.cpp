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

bool is_over(const ForecastOptions& options) { return options.is_over && options.is_over(); }

// One way the cluster may live on.
class Future {
 public:
  Future(const ClusterState& state, const Knobs& knobs, UnixTime now, const RunTimes& run_times,
         Rng rng)
      : cluster_(state, knobs, now), run_times_(run_times), rng_(rng), from_(now) {
    for (JobId id : cluster_.state().live()) foresee(id);
  }

  // When the job starts; nullopt: not until the horizon or the last pass.
  std::optional<Duration> run_until_start(JobId job, const ForecastOptions& options, int& passes) {
    for (int pass = 0; pass < options.passes_max && !is_over(options); ++pass) {
      ++passes;
      const VirtualCluster::Moves moves = cluster_.pass();
      if (cluster_.state().find(job)->has_live_attempt()) return cluster_.now() - from_;
      for (JobId id : moves.started) foresee(id);
      for (JobId id : moves.asked_to_leave) foresee(id);
      const Duration ahead = cluster_.now() - from_;
      if (ahead >= options.horizon) break;
      UnixTime next = cluster_.now() + std::max(kTickMin, ahead / kTickShare);
      if (moves.is_partial && !moves.is_none) next = cluster_.now() + 1s;
      const Duration window = std::max(kWindowMin, ahead / kWindowShare);
      if (!events_.empty() && events_.begin()->first <= next) {
        next = std::max(cluster_.now(), events_.begin()->first) + window;
      }
      happen_until(next);
    }
    return std::nullopt;
  }

 private:
  // What becomes of a live attempt: it ends by itself, or leaves when it has saved.
  void foresee(JobId id) {
    const Job& job = *cluster_.state().find(id);
    const Attempt& attempt = *job.attempt;
    if (attempt.end || attempt.state == AttemptState::suspending) {
      Duration save = kSaveTime;
      if (job.checkpoint && job.checkpoint->save_seconds > 0) {
        save = Duration(static_cast<int64_t>(std::min(job.checkpoint->save_seconds, 3600.0) * 1e6));
      }
      events_.emplace(cluster_.now() + std::min(save, job.spec->suspend.grace), id);
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
    const Duration ran = ran_for_all(job);
    auto [it, is_new] = totals_.try_emplace(job.id, Duration{0});
    if (is_new) {
      it->second = ran + run_times_.residual(job.user, job.spec->group,
                                             gpus_asked(cluster_.state(), job), ran, rng_.unit());
    }
    return std::max(Duration{1s}, it->second - ran);
  }

  Duration ran_for_all(const Job& job) const {
    const int gpus = std::max(1, gpus_asked(cluster_.state(), job));
    return std::chrono::seconds(gpu_seconds_had(job, cluster_.now()) / gpus);
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
};

}  // namespace

StartForecast forecast_start(const ClusterState& state, const Knobs& knobs, UnixTime now, JobId job,
                             const RunTimes& run_times, const ForecastOptions& options) {
  StartForecast forecast;
  Rng rng(static_cast<uint64_t>(job.value));
  std::vector<Duration> starts;  // beyond what was looked at = the longest there is
  for (int sample = 0; sample < options.samples; ++sample) {
    Future future(state, knobs, now, run_times, rng.fork());
    const auto start = future.run_until_start(job, options, forecast.passes);
    // What was broken off says nothing, unless it is all there is.
    if (!start && is_over(options) && !starts.empty()) break;
    starts.push_back(start.value_or(Duration::max()));
    if (is_over(options)) break;
  }
  forecast.samples = static_cast<int>(starts.size());
  std::ranges::sort(starts);
  auto at = [&](int percent) -> std::optional<Duration> {
    const size_t index = (starts.size() * percent + 99) / 100 - 1;
    return starts[index] == Duration::max() ? std::nullopt : std::optional(starts[index]);
  };
  if (starts.empty()) return forecast;
  forecast.p50 = at(50);
  forecast.p90 = at(90);
  return forecast;
}

}  // namespace hai
