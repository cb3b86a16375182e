#pragma once
// What this server has learned of run times and of its own promises, from the events as they become
// durable. Soft state: after a change of leader it is warmed from the history. On the loop's
// thread.

#include <functional>
#include <map>

#include "common/loop_scope.h"
#include "server/api/event_feed.h"
#include "server/control/engine/controller.h"
#include "server/control/history_port.h"
#include "server/plan/estimate_calibration.h"
#include "server/plan/run_times.h"

namespace hai {

class StartEstimates {
 public:
  StartEstimates(Controller& controller, EventFeed& feed, History* history);
  ~StartEstimates();
  StartEstimates(const StartEstimates&) = delete;
  StartEstimates& operator=(const StartEstimates&) = delete;

  const RunTimes& run_times() const { return run_times_; }
  const EstimateCalibration& calibration() const { return calibration_; }
  // The time from `now` that is promised for a forecast; the first promise of a wait is kept and
  // compared with what came.
  Duration promise(JobId job, UnixTime now, Duration forecast_p90);
  // A newly submitted job that has no promise yet; no job if all have one.
  JobId take_unpromised();

 private:
  void read_events();
  void learn(const Event& event);
  void learn_run_time(const ClusterState& state, const Job& job);
  void warm();

  static constexpr size_t kPromisesMax = 10'000;

  Controller& controller_;
  EventFeed& feed_;
  History* const history_;
  EventFeed::WatchId watch_ = 0;
  int64_t seen_to_ = 0;
  RunTimes run_times_;
  EstimateCalibration calibration_;
  struct Promise {
    UnixTime made_at{};
    Duration within{0};
  };
  std::map<JobId, Promise> promises_;
  JobId unpromised_;
  LoopScope scope_;
};

}  // namespace hai
