#include "sim/year/year_meter.h"

#include <algorithm>

#include "server/control/health/decide_health.h"
#include "sim/trace/seconds.h"
#include "sim/year/year_workload.h"

namespace hai {
namespace {

// A fault and an end that is further away than this have nothing to do with each other.
constexpr Duration kEndsWithin = 30min;

NodeUseKind use_of(const Node& node, const ClusterState& state) {
  bool is_validated = false;
  for (const Occupant& occupant : node.occupants) {
    if (!state.find(occupant.job)->spec->is_validation) return NodeUseKind::used;
    is_validated = true;
  }
  const RepairStep step = node.health.repair.step;
  if (step == RepairStep::repairing) return NodeUseKind::repairing;
  if (step == RepairStep::service) return NodeUseKind::service;
  if (node.liveness == Liveness::down) return NodeUseKind::away;
  if (is_validated || step == RepairStep::validating) return NodeUseKind::validating;
  if (step == RepairStep::emptying) return NodeUseKind::emptying;
  if (node.scheduling != Scheduling::open) return NodeUseKind::held;
  return node.liveness == Liveness::up ? NodeUseKind::idle : NodeUseKind::away;
}

bool is_out(NodeUseKind use) { return use != NodeUseKind::used && use != NodeUseKind::idle; }

}  // namespace

YearMeter::YearMeter(const std::vector<TraceJob>& jobs, const Machines& machines, int nodes,
                     UnixTime start)
    : jobs_(jobs), machines_(machines), start_(start), nodes_(static_cast<size_t>(nodes)) {
  for (NodeRecord& record : nodes_) record.since = start;
}

int YearMeter::job_of_trace(JobId job) const {
  auto found = trace_jobs_.find(job);
  return found == trace_jobs_.end() ? -1 : found->second;
}

double YearMeter::gpu_time(int job, Duration time) const {
  return jobs_[static_cast<size_t>(job)].nodes *
         static_cast<double>(std::max(Duration{0}, time).count());
}

void YearMeter::durable(const std::vector<Event>& events, const ClusterState& state) {
  for (const Event& event : events) {
    now_.digest = digest(now_.digest, event);
    std::visit([&](const auto& body) { on(body, event.time, state); }, event.body);
    touch(event.body, state);
  }
  now_.events += std::ssize(events);
  for (NodeId node : std::exchange(touched_, {})) settle(node, events.back().time, state);
}

void YearMeter::touch(const EventBody& body, const ClusterState&) {
  const auto add = [&](JobId job) {
    auto found = places_.find(job);
    if (found != places_.end()) touched_.insert(found->second.begin(), found->second.end());
  };
  if (const auto* placed = std::get_if<AttemptPlaced>(&body)) add(placed->job);
  if (const auto* ended = std::get_if<AttemptEnded>(&body)) {
    add(ended->job);
    places_.erase(ended->job);
  }
  if (const auto* node = std::get_if<NodeLivenessChanged>(&body)) touched_.insert(node->node);
  if (const auto* node = std::get_if<NodeSchedulingChanged>(&body)) touched_.insert(node->node);
  if (const auto* node = std::get_if<NodeRepairChanged>(&body)) touched_.insert(node->node);
}

void YearMeter::settle(NodeId id, UnixTime now, const ClusterState& state) {
  NodeRecord& record = nodes_[static_cast<size_t>(id.value - 1)];
  const NodeUseKind use = use_of(*state.find(id), state);
  if (now > record.since) {
    use_[static_cast<size_t>(record.use)] += static_cast<double>((now - record.since).count());
    record.since = now;
  }
  nodes_out_ += is_out(use) - is_out(record.use);
  now_.nodes_out_max = std::max(now_.nodes_out_max, nodes_out_);
  record.use = use;
}

// ---- jobs

void YearMeter::on(const JobSubmitted& event, UnixTime, const ClusterState&) {
  if (event.spec->is_validation) return;
  trace_jobs_[event.job] = Fleet::job_of(event.spec->name);
  ++now_.jobs;
}

void YearMeter::on(const AttemptPlaced& event, UnixTime, const ClusterState&) {
  std::vector<NodeId>& nodes = places_[event.job];
  nodes.clear();
  for (const RankPlacement& place : event.placement) nodes.push_back(place.node);
  if (const int job = job_of_trace(event.job); job >= 0) attempts_[job] = event.attempt;
}

void YearMeter::failed_by_hardware(int job, UnixTime now) {
  auto live = attempts_.find(job);
  if (live == attempts_.end()) return;
  faults_.try_emplace(job, Fault{now, live->second});
}

void YearMeter::on(const AttemptEnded& event, UnixTime now, const ClusterState&) {
  const int job = job_of_trace(event.job);
  if (job < 0) return;
  attempts_.erase(job);
  if (event.outcome == AttemptState::suspended) {
    ++now_.preemptions;
    if (job == kLongJob) ++now_.long_job.moves;
  }
  auto fault = faults_.find(job);
  if (fault == faults_.end() || fault->second.attempt != event.attempt) return;
  const bool is_related =
      event.outcome != AttemptState::suspended && now - fault->second.at < kEndsWithin;
  if (!is_related) return void(faults_.erase(fault));
  fault->second.has_ended = true;
  stalled_ += gpu_time(job, now - fault->second.at);
  ++now_.interruptions;
  if (job == kLongJob) ++now_.long_job.interruptions;
}

void YearMeter::on(const AttemptRunning& event, UnixTime now, const ClusterState&) {
  const int job = job_of_trace(event.job);
  auto fault = faults_.find(job);
  if (fault == faults_.end() || !fault->second.has_ended) return;
  back_s_.push_back(seconds(now - fault->second.at));
  if (job == kLongJob) long_back_s_.push_back(back_s_.back());
  restarting_ += gpu_time(job, year_job_model(0, job).restart);
  faults_.erase(fault);
}

void YearMeter::on(const JobFinished& event, UnixTime, const ClusterState&) {
  const int job = job_of_trace(event.job);
  if (job < 0) return;
  faults_.erase(job);
  if (job == kLongJob) now_.long_job.has_failed = true;
  if (event.state == JobState::succeeded) {
    ++now_.completed;
  } else if (failed_by_itself_.contains(job)) {
    ++now_.failed_by_themselves;
  } else {
    ++now_.failed_wrongly;
  }
}

void YearMeter::on(const JobReopened& event, UnixTime, const ClusterState&) {
  const int job = job_of_trace(event.job);
  if (job >= 0 && !failed_by_itself_.contains(job)) --now_.failed_wrongly;
}

void YearMeter::run_ended(const RunEnded& run) {
  auto fault = faults_.find(run.job);
  if (run.was_asked) {
    redone_after_notice_ += gpu_time(run.job, run.lost);
  } else if (fault != faults_.end()) {
    redone_ += gpu_time(run.job, run.lost);
  }
}

// ---- nodes

void YearMeter::on(const NodeSchedulingChanged& event, UnixTime now, const ClusterState&) {
  NodeRecord& record = nodes_[static_cast<size_t>(event.node.value - 1)];
  if (event.scheduling == Scheduling::open) {
    if (record.out_since) out_s_.push_back(seconds(now - *record.out_since));
    record.out_since.reset();
    record.is_drained = record.is_called_lemon = false;
    return;
  }
  if (event.by != kByHealth) return;
  if (!record.out_since) {
    record.out_since = now;
    ++now_.doubts;
  }
  if (event.scheduling == Scheduling::cordoned || record.is_drained) return;
  record.is_drained = true;
  ++now_.drains;
  if (has_cause(event.node)) return;
  ++now_.wrong_drains;
  wrong_nodes_.insert(event.node);
}

void YearMeter::on(const NodeRepairChanged& event, UnixTime now, const ClusterState&) {
  NodeRecord& record = nodes_[static_cast<size_t>(event.node.value - 1)];
  const RepairStep step = event.repair.step;
  const bool is_wrong = !has_cause(event.node);
  if (step == RepairStep::repairing && record.hook != event.repair.hook) {
    record.hook = event.repair.hook;
    ++now_.hooks;
    now_.wrong_hooks += is_wrong;
  }
  if (step == RepairStep::service && record.step != step) {
    ++now_.services;
    now_.wrong_services += is_wrong;
  }
  if (event.repair.is_lemon && !record.is_called_lemon) {
    record.is_called_lemon = true;
    if (machines_.machine(static_cast<int>(event.node.value) - 1).is_lemon()) {
      ++now_.lemons_found;
      lemon_days_.push_back(seconds(now - start_) / 86'400);
    } else {
      ++now_.wrong_lemons;
    }
  }
  record.step = step;
}

void YearMeter::on(const NodeValidated& event, UnixTime, const ClusterState&) {
  const Machine& machine = machines_.machine(static_cast<int>(event.node.value) - 1);
  ++now_.validations;
  now_.validations_failed += !event.passed;
  now_.false_alarms += !event.passed && !machine.is_broken() && !machine.is_lemon();
  now_.misses += event.passed && machine.is_broken();
}

void YearMeter::on(const IncidentOpened& event, UnixTime, const ClusterState&) {
  const std::string& kind = event.kind;
  ++(kind == kNodeFault   ? now_.node_incidents
     : kind == kMassFault ? now_.mass_incidents
                          : now_.other_incidents);
}

YearMeasures YearMeter::measures(const ClusterState& state, UnixTime now) {
  std::vector<double> ages;
  for (const auto& [id, node] : state.nodes()) {
    settle(id, now, state);
    if (node.takes_jobs()) ages.push_back(seconds(now - node.health.validated_at) / 86'400);
  }
  YearMeasures result = now_;
  result.days = seconds(now - start_) / 86'400;
  const double all =
      static_cast<double>(nodes_.size()) * static_cast<double>((now - start_).count());
  for (size_t i = 0; i < use_.size(); ++i) result.shares[i] = use_[i] / all;
  result.stalled = stalled_ / all;
  result.redone = redone_ / all;
  result.restarting = restarting_ / all;
  result.redone_after_notice = redone_after_notice_ / all;
  result.back_s = distribution_of(back_s_);
  result.long_job.back_s = distribution_of(long_back_s_);
  result.long_job.nodes = jobs_[kLongJob].nodes;
  result.out_s = distribution_of(out_s_);
  result.wrong_nodes = std::ssize(wrong_nodes_);
  result.lemons = machines_.lemons();
  result.lemon_days = distribution_of(lemon_days_);
  result.validation_age_days = distribution_of(std::move(ages));
  result.open_incidents = std::ssize(state.incidents());
  result.faults = machines_.counts();
  return result;
}

}  // namespace hai
