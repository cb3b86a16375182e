#pragma once
// Measures a replay by the events that became durable, and by what the fleet says of each run.
//
// GPU time is given from an attempt's placement to its end; a share counts its GPUs, whole nodes
// all of theirs. Healthy are the GPUs of nodes that are up and open. `utilization` and the series
// are over the time until the last submit; demand is what runs and what waits.

#include <map>
#include <set>
#include <vector>

#include "server/control/ports.h"
#include "server/model/digest.h"
#include "sim/trace/distribution.h"
#include "sim/trace/fleet.h"
#include "sim/trace/series.h"

namespace hai {

struct Measures {
  int64_t submitted = 0;
  int64_t completed = 0;  // succeeded
  int64_t failed = 0;     // any other end
  Duration makespan{0};   // to the last end
  Duration last_submit{0};
  double utilization = 0;
  double demand_satisfied = 0;  // given / healthy GPU time while demand >= healthy capacity
  double given_gpu_hours = 0;
  double lost_gpu_hours = 0;
  double lost_when_asked_gpu_hours = 0;  // the part of it that suspensions lost
  double switch_gpu_hours = 0;
  double switch_share = 0;          // (switching + lost) / given
  Distribution jct_s;               // submit → end
  Distribution wait_s;              // submit → first placement
  Distribution slowdown;            // jct / max(run time, 10 s), 1 at least
  Distribution short_job_slowdown;  // of jobs with a run time below 1 h
  int64_t preemptions = 0;
  int64_t requeues = 0;
  int cross_zone_max = 0;      // jobs across zones at once
  int crossing_pairs_max = 0;  // neighbouring ranks of one job in different zones
  uint64_t digest = kDigestStart;
  int64_t events = 0;
};

class Meter final : public EventSink {
 public:
  // Times of events are told from `start`, the moment of the trace's beginning.
  Meter(const std::vector<TraceJob>& jobs, int gpus_of_node, UnixTime start);

  void durable(const std::vector<Event>& events, const ClusterState& state) override;
  void run_ended(const RunEnded& run);

  int64_t ended() const { return now_.completed + now_.failed; }
  int64_t submitted() const { return now_.submitted; }
  int64_t running() const { return static_cast<int64_t>(live_.size()); }
  int64_t waiting() const { return waiting_jobs_; }
  // All of it, up to the last event.
  Measures measures() const;
  const Series& series() const { return series_; }

 private:
  struct JobRecord {
    Duration submit{0};
    Duration first_placed{-1};
    Duration end{-1};
    int gpus = 0;
  };

  void advance(UnixTime to);
  int trace_job(JobId job) const;
  void on(const JobSubmitted& event, const ClusterState& state);
  void on(const AttemptPlaced& event, const ClusterState& state);
  void on(const AttemptEnded& event, const ClusterState& state);
  void on(const JobFinished& event, const ClusterState& state);
  void on(const JobRequeued& event, const ClusterState& state);
  void on(const NodeRegistered& event, const ClusterState& state);
  void on(const NodeLivenessChanged& event, const ClusterState& state);
  void on(const NodeSchedulingChanged& event, const ClusterState& state);
  void on(const auto&, const ClusterState&) {}
  void look_at_node(NodeId node, const ClusterState& state);

  const std::vector<TraceJob>& jobs_;
  const int gpus_of_node_;
  const UnixTime start_;
  Duration last_submit_{0};

  Measures now_;
  Duration at_{0};
  std::vector<JobRecord> records_;  // by trace job
  std::vector<int> trace_jobs_;     // by job id
  std::set<JobId> live_;
  std::set<JobId> crossing_;
  std::map<NodeId, int> healthy_gpus_;  // of each node
  int64_t given_ = 0;
  int64_t healthy_ = 0;
  int64_t waiting_gpus_ = 0;
  int64_t waiting_jobs_ = 0;
  // Integrals in GPU-microseconds.
  double given_all_ = 0;
  double given_until_last_submit_ = 0;
  double healthy_until_last_submit_ = 0;
  double given_in_demand_ = 0;
  double healthy_in_demand_ = 0;
  double lost_ = 0;
  double lost_when_asked_ = 0;
  double switching_ = 0;
  Series series_;
};

}  // namespace hai
