#pragma once
// What the server notes of itself while it leads, for charts and metrics: samples of the cluster,
// sums over jobs, progress. A timer of its own on the loop's thread.

#include <memory>

#include "common/loop.h"
#include "server/api/cluster_series.h"
#include "server/api/event_meter.h"
#include "server/api/job_census.h"
#include "server/api/progress_board.h"
#include "server/api/queries.h"
#include "server/api/usage_board.h"

namespace hai {

class Observatory {
 public:
  // `store` may be null: then what was before this server's start is not known.
  Observatory(Loop& loop, Controller& controller, SampleStore* store);
  ~Observatory();

  void standing_changed();

  const ClusterSeries& series() const { return series_; }
  JobCensus& census() { return census_; }
  const ProgressBoard& progress() const { return progress_; }
  const UsageBoard& usage() const { return usage_; }
  EventMeter& events() { return events_; }
  // By use, from samples; the words are those of /cluster.
  const std::map<std::string, double>& gpu_seconds() const { return gpu_seconds_; }
  // Totals of now, or of a moment ago: counted again when something has happened and a pause that
  // follows their cost is over, however many ask.
  const ClusterSummary& summary(const Controller::ReadContext& context);

 private:
  void tick();

  static constexpr int64_t kPauseFactor = 20;  // of the cost: at most 5 % of the loop
  static constexpr Duration kSummaryAgeMax = 5s;

  Loop& loop_;
  Controller& controller_;
  ClusterSeries series_;
  JobCensus census_;
  ProgressBoard progress_;
  UsageBoard usage_;
  EventMeter events_;
  std::map<std::string, double> gpu_seconds_;
  ClusterSummary summary_;
  std::optional<MonoTime> summary_at_;
  MonoTime summary_again_at_{};
  bool was_leading_ = false;
  TimerId timer_ = 0;
};

}  // namespace hai
