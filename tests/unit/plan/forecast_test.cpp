// When a waiting job will start, and whether the promise holds.

#include "server/plan/forecast.h"

#include <cmath>

#include "common/rng.h"
#include "server/plan/estimate_calibration.h"
#include "server/plan/order.h"
#include "server/plan/snapshot.h"
#include "server/plan/virtual_cluster.h"
#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

// Jobs of one hour, give or take a bin of the histogram.
RunTimes hours(int gpus = 8) {
  RunTimes times;
  for (int i = 0; i < 100; ++i) times.add("ann", "training", gpus, 1h + i * 1s);
  return times;
}

TEST(Forecast, AFreeNodeIsTakenAtOnce) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.submit(job("j"));
  const StartForecast forecast = forecast_start(c.state(), c.knobs, c.now, id, hours());
  EXPECT_EQ(forecast.p50, Duration{0});
  EXPECT_EQ(forecast.p90, Duration{0});
}

TEST(Forecast, WaitsForWhatIsLeftOfTheRunningJob) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("first"), {"node-1"});
  c.advance(30min);
  const JobId id = c.submit(job("j"));
  const StartForecast forecast = forecast_start(c.state(), c.knobs, c.now, id, hours());
  ASSERT_TRUE(forecast.p50 && forecast.p90);
  EXPECT_NEAR(static_cast<double>(forecast.p50->count()) / 60e6, 32, 8);
  EXPECT_GE(*forecast.p90, *forecast.p50);
}

TEST(Forecast, AVictimNeedsOnlyToSave) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("low").priority(Priority::low), {"node-1"});
  const JobId id = c.submit(job("j").priority(Priority::high));
  const StartForecast forecast = forecast_start(c.state(), c.knobs, c.now, id, hours());
  ASSERT_TRUE(forecast.p90);
  EXPECT_LE(*forecast.p90, 60s);
}

TEST(Forecast, AKnownTimeIsNotRounded) {
  for (const Duration ahead : {Duration(5s), Duration(1h), Duration(17h), Duration(72h)}) {
    Cluster c = cluster(nodes(1, gpus(8)));
    const JobId id = c.submit(job("j").begin_at(c.now + ahead));
    const StartForecast forecast = forecast_start(c.state(), c.knobs, c.now, id, hours());
    EXPECT_EQ(forecast.p50, ahead);
    EXPECT_EQ(forecast.p90, ahead);
  }
}

TEST(Forecast, NeverIsSaidToBeBeyondTheHorizon) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.set_scheduling("node-1", Scheduling::cordoned);
  const JobId id = c.submit(job("j"));
  const StartForecast forecast = forecast_start(c.state(), c.knobs, c.now, id, hours());
  EXPECT_EQ(forecast.p50, std::nullopt);
  EXPECT_EQ(forecast.p90, std::nullopt);
}

TEST(Forecast, IsTheSameEachTime) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("a"), {"node-1"});
  c.run(job("b"), {"node-2"});
  const JobId id = c.submit(job("j").nodes(2));
  const StartForecast first = forecast_start(c.state(), c.knobs, c.now, id, RunTimes());
  const StartForecast second = forecast_start(c.state(), c.knobs, c.now, id, RunTimes());
  EXPECT_EQ(first.p50, second.p50);
  EXPECT_EQ(first.p90, second.p90);
}

TEST(Forecast, ACopyForPlanningForecastsTheSame) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("a"), {"node-1"});
  c.run(job("b").user("bob"), {"node-2"});
  c.submit(job("ahead").user("bob"));
  const JobId id = c.submit(job("j").nodes(2));
  const ClusterState copy(copy_for_planning(c.state(), c.knobs, c.now, {.focus = id}));
  EXPECT_EQ(forecast_start(copy, c.knobs, c.now, id, hours()).p90,
            forecast_start(c.state(), c.knobs, c.now, id, hours()).p90);
}

TEST(Forecast, OfAQueueEachJobHasItsTurn) {
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(8)).group("dev"));
  c.set_scheduling("node-2", Scheduling::cordoned);
  c.run(job("runs"), {"node-1"});
  c.advance(30min);
  const JobId first = c.submit(job("first"));
  const JobId second = c.submit(job("second"));
  const JobId never = c.submit(job("never").group("dev"));
  const QueueForecast queue = forecast_queue(c.state(), c.knobs, c.now, hours());
  EXPECT_EQ(queue.samples, 9);
  ASSERT_TRUE(queue.starts.at(first).p50 && queue.starts.at(second).p50);
  EXPECT_NEAR(static_cast<double>(queue.starts.at(first).p50->count()) / 60e6, 32, 10);
  EXPECT_GT(*queue.starts.at(second).p50, *queue.starts.at(first).p50 + 40min);
  EXPECT_EQ(queue.starts.at(never).p50, std::nullopt);
  // What one job is told alone and in the queue is about the same.
  const StartForecast alone = forecast_start(c.state(), c.knobs, c.now, second, hours());
  EXPECT_NEAR(static_cast<double>(queue.starts.at(second).p50->count()),
              static_cast<double>(alone.p50->count()), 20.0 * 60e6);
}

TEST(Forecast, OfAQueueEndsWhenItsTimeIsUp) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("runs"), {"node-1"});
  c.submit(job("waits"));
  int asked = 0;
  const QueueForecast queue =
      forecast_queue(c.state(), c.knobs, c.now, hours(), {.is_over = [&] { return ++asked > 3; }});
  EXPECT_LE(queue.passes, 3);
  EXPECT_EQ(queue.samples, 1);
  EXPECT_EQ(queue.starts.begin()->second.p50, std::nullopt);
}

TEST(Forecast, ARunningJobEndsByItsTimeoutAtTheLatest) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId id = c.run(job("runs").timeout(40min), {"node-1"});
  c.advance(30min);
  EXPECT_EQ(expected_end(c.state(), c.job(id), c.now, hours(), 0.9), 10min);
}

TEST(RunTimes, ResidualsAreConditional) {
  RunTimes times;
  for (int i = 0; i < 50; ++i) times.add("ann", "training", 8, 1min);
  for (int i = 0; i < 50; ++i) times.add("ann", "training", 8, 10h);
  EXPECT_LT(times.residual("ann", "training", 8, 0s, 0.4), 2min);
  // Whoever has outlived the short ones is a long one.
  EXPECT_GT(times.residual("ann", "training", 8, 5min, 0.4), 8h);
  // Of others' jobs of that size, and of all.
  EXPECT_GT(times.residual("bob", "training", 8, 5min, 0.4), 8h);
  EXPECT_GT(times.residual("bob", "dev", 1, 5min, 0.4), 8h);
  // Longer than any: as long again, in the middle.
  EXPECT_EQ(times.residual("ann", "training", 8, 20h, 0.5), 20h);
}

TEST(RunTimes, TheMiddleOfFewerShortJobsThanLongOnesIsALongOne) {
  RunTimes times;
  for (int i = 0; i < 10; ++i) times.add("ann", "training", 8, 1min);
  for (int i = 0; i < 11; ++i) times.add("ann", "training", 8, 10h);
  EXPECT_GT(times.residual("ann", "training", 8, 0s, 0.5), 8h);
}

TEST(RunTimes, AJobThatHasJustBegunIsTakenToHaveRunTenMinutes) {
  const RunTimes nothing_known;
  for (const Duration ran : {Duration(0s), Duration(1min), Duration(10min)}) {
    EXPECT_EQ(nothing_known.residual("ann", "training", 8, ran, 0.5), 10min);
  }
  EXPECT_EQ(nothing_known.residual("ann", "training", 8, 11min, 0.5), 11min);
}

// An overloaded cluster whose jobs come at random, run for times nobody knows before, and take
// turns by the planner's rules. Each that has to wait is promised a start.
class Queue {
 public:
  explicit Queue(uint64_t seed) : rng_(seed), cluster_(world(), knobs_, now_) {}

  void run(int jobs) {
    UnixTime arrival = now_;
    for (int i = 0; i < jobs; ++i) {
      arrival += Duration(static_cast<int64_t>(-std::log(1 - rng_.unit()) * 36 * 60e6));
      live_until(arrival);
      submit(i);
      settle();
      const JobId id{i + 1};
      if (cluster_.state().find(id)->has_live_attempt()) continue;
      const StartForecast forecast = forecast_start(cluster_.state(), knobs_, cluster_.now(), id,
                                                    run_times_, {.samples = 9, .passes_max = 200});
      ++had_to_wait_;
      if (!forecast.p90) continue;
      promised_[id] = {cluster_.now(), calibration_.widened(*forecast.p90)};
    }
    live_until(arrival + 24 * 30h);
  }

  EstimateCalibration calibration_;
  int started_within_ = 0;
  int had_to_wait_ = 0;
  int waited_ = 0;  // of those, with a promise, that have started

 private:
  ClusterState world() {
    Cluster c = cluster(nodes(8, gpus(8)));
    for (int i = 0; i < 5; ++i) c.add_user(fmt::format("u{}", i));
    now_ = c.now;
    return c.state();
  }

  void submit(int i) {
    constexpr int kNodes[] = {1, 1, 1, 2, 2, 4};
    JobSpec spec = job(fmt::format("j{}", i)).nodes(kNodes[rng_.below(6)]).spec();
    if (rng_.chance(0.15)) spec.priority = Priority::high;
    const JobId id{cluster_.state().last_job().value + 1};
    cluster_.submit(JobSubmitted{id, fmt::format("u{}", rng_.below(5)), "",
                                 std::make_shared<const JobSpec>(spec), std::vector<Dependency>()});
    // From a minute to a day, most of them short.
    left_[id] = Duration(static_cast<int64_t>(std::exp(rng_.unit() * 7.2) * 60e6));
  }

  void settle() {
    for (int round = 0; round < 8; ++round) {
      const auto moves = cluster_.pass();
      for (JobId id : moves.started) {
        begun_[id] = cluster_.now();
        auto it = promised_.find(id);
        if (it == promised_.end()) continue;
        const Duration took = cluster_.now() - it->second.first;
        ++waited_;
        started_within_ += took <= it->second.second;
        calibration_.observe(it->second.second, took);
        promised_.erase(it);
      }
      for (JobId id : moves.asked_to_leave) {
        left_[id] -= cluster_.now() - begun_[id];
        cluster_.suspend(id);
      }
      if (moves.is_none) return;
    }
  }

  void live_until(UnixTime until) {
    while (cluster_.now() < until) {
      UnixTime next = std::min(until, cluster_.now() + 5min);
      const std::set<JobId> live = cluster_.state().live();
      if (live.empty() && cluster_.state().waiting().empty()) return cluster_.advance_to(until);
      for (JobId id : live) next = std::min(next, begun_[id] + std::max(left_[id], Duration(1s)));
      cluster_.advance_to(std::max(next, cluster_.now() + 1s));
      for (JobId id : live) {
        if (begun_[id] + left_[id] > cluster_.now()) continue;
        const Job& job = *cluster_.state().find(id);
        run_times_.add(job.user, job.spec->group, gpus_asked(cluster_.state(), job),
                       std::chrono::seconds(gpu_seconds_had(job, cluster_.now()) /
                                            gpus_asked(cluster_.state(), job)));
        cluster_.finish(id);
      }
      settle();
    }
  }

  Rng rng_;
  Knobs knobs_;
  UnixTime now_{};
  VirtualCluster cluster_;
  RunTimes run_times_;
  std::map<JobId, Duration> left_;
  std::map<JobId, UnixTime> begun_;
  std::map<JobId, std::pair<UnixTime, Duration>> promised_;
};

TEST(EstimateCalibration, NineOfTenJobsOfAnOverloadedQueueStartAsPromised) {
  Queue queue(1);
  queue.run(600);
  ASSERT_GT(queue.waited_, 300);
  const double coverage = static_cast<double>(queue.started_within_) / queue.waited_;
  EXPECT_GT(queue.waited_, queue.had_to_wait_ * 9 / 10);
  RecordProperty("waited", queue.waited_);
  RecordProperty("coverage_percent", static_cast<int>(coverage * 100));
  EXPECT_GE(coverage, 0.85);
  EXPECT_LE(coverage, 0.95);
}

TEST(EstimateCalibration, ForecastsThatAreAlwaysWrongAreWidenedUntilTheyHold) {
  EstimateCalibration calibration;
  int hits = 0;
  Rng rng(1);
  for (int i = 0; i < 1'000; ++i) {
    const Duration promised = calibration.widened(1min);
    const auto took = Duration(static_cast<int64_t>(rng.unit() * 3600e6));
    hits += i >= 200 && took <= promised;
    calibration.observe(promised, took);
  }
  EXPECT_NEAR(hits / 800.0, 0.9, 0.03);
  EXPECT_GT(calibration.factor(), 30);
}

}  // namespace
}  // namespace hai::test
