#pragma once
// Measures a year by the events that became durable, and against the hardware's truth.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "server/control/ports.h"
#include "sim/year/machines.h"
#include "sim/year/year_measures.h"

namespace hai {

class YearMeter {
 public:
  YearMeter(const std::vector<TraceJob>& jobs, const Machines& machines, int nodes, UnixTime start);

  void durable(const std::vector<Event>& events, const ClusterState& state);
  void run_ended(const RunEnded& run);
  // The run of this job is about to end by a fault of its hardware.
  void failed_by_hardware(int job, UnixTime now);
  void failed_by_itself(int job) { failed_by_itself_.insert(job); }

  YearMeasures measures(const ClusterState& state, UnixTime now);

 private:
  struct Fault {
    UnixTime at{};
    int attempt = 0;
    bool has_ended = false;
  };
  struct NodeRecord {
    NodeUseKind use = NodeUseKind::idle;
    UnixTime since{};
    std::optional<UnixTime> out_since;
    bool is_drained = false;
    bool is_called_lemon = false;
    RepairStep step = RepairStep::none;
    int64_t hook = 0;
  };

  void on(const AttemptPlaced& event, UnixTime now, const ClusterState& state);
  void on(const AttemptRunning& event, UnixTime now, const ClusterState& state);
  void on(const AttemptEnded& event, UnixTime now, const ClusterState& state);
  void on(const JobSubmitted& event, UnixTime now, const ClusterState& state);
  void on(const JobFinished& event, UnixTime now, const ClusterState& state);
  void on(const JobReopened& event, UnixTime now, const ClusterState& state);
  void on(const NodeSchedulingChanged& event, UnixTime now, const ClusterState& state);
  void on(const NodeRepairChanged& event, UnixTime now, const ClusterState& state);
  void on(const NodeValidated& event, UnixTime now, const ClusterState& state);
  void on(const IncidentOpened& event, UnixTime now, const ClusterState& state);
  void on(const auto&, UnixTime, const ClusterState&) {}
  // Which nodes an event may give another use.
  void touch(const EventBody& body, const ClusterState& state);
  void settle(NodeId node, UnixTime now, const ClusterState& state);
  bool has_cause(NodeId node) const {
    return machines_.has_cause(static_cast<int>(node.value) - 1);
  }
  int job_of_trace(JobId job) const;
  double gpu_time(int job, Duration time) const;

  const std::vector<TraceJob>& jobs_;
  const Machines& machines_;
  const UnixTime start_;
  YearMeasures now_;
  std::vector<NodeRecord> nodes_;
  std::array<double, kNodeUseNames.size()> use_{};  // node-microseconds
  int64_t nodes_out_ = 0;
  std::map<JobId, int> trace_jobs_;
  std::map<JobId, std::vector<NodeId>> places_;
  std::map<int, Fault> faults_;  // by job of the trace, until it runs again
  std::map<int, int> attempts_;  // live ones
  std::set<int> failed_by_itself_;
  std::set<NodeId> touched_;
  std::set<NodeId> wrong_nodes_;
  double stalled_ = 0;  // node-microseconds, as the others
  double redone_ = 0;
  double restarting_ = 0;
  double redone_after_notice_ = 0;
  std::vector<double> back_s_;
  std::vector<double> long_back_s_;
  std::vector<double> out_s_;
  std::vector<double> lemon_days_;
};

}  // namespace hai
