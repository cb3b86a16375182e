#include "sim/trace/meter.h"

#include <algorithm>

#include "common/check.h"
#include "sim/trace/seconds.h"

namespace hai {
namespace {

constexpr double kMicrosOfHour = 3.6e9;
constexpr Duration kSlowdownFloor = 10s;
constexpr Duration kShortJob = 1h;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

Meter::Meter(const std::vector<TraceJob>& jobs, int gpus_of_node, UnixTime start)
    : jobs_(jobs), gpus_of_node_(gpus_of_node), start_(start), records_(jobs.size()) {
  for (const TraceJob& job : jobs) last_submit_ = std::max(last_submit_, job.submit);
}

void Meter::durable(const std::vector<Event>& events, const ClusterState& state) {
  for (const Event& event : events) {
    now_.digest = digest(now_.digest, event);
    advance(event.time);
    std::visit([&](const auto& body) { on(body, state); }, event.body);
  }
  now_.events += std::ssize(events);
}

// The levels so far held until now. Before the trace begins nothing is measured.
void Meter::advance(UnixTime to) {
  Duration now = to - start_;
  if (now <= at_) return;
  auto length = static_cast<double>((now - at_).count());
  auto given = static_cast<double>(given_);
  auto healthy = static_cast<double>(healthy_);
  given_all_ += given * length;
  if (at_ < last_submit_) {
    auto part = static_cast<double>((std::min(now, last_submit_) - at_).count());
    given_until_last_submit_ += given * part;
    healthy_until_last_submit_ += healthy * part;
  }
  if (given_ + waiting_gpus_ >= healthy_) {
    given_in_demand_ += given * length;
    healthy_in_demand_ += healthy * length;
  }
  series_.add(at_, now - at_,
              {.given = given,
               .healthy = healthy,
               .waiting = static_cast<double>(waiting_gpus_),
               .queue = static_cast<double>(waiting_jobs_)});
  at_ = now;
}

int Meter::trace_job(JobId job) const { return trace_jobs_.at(static_cast<size_t>(job.value)); }

void Meter::on(const JobSubmitted& event, const ClusterState&) {
  trace_jobs_.resize(std::max(trace_jobs_.size(), static_cast<size_t>(event.job.value) + 1), -1);
  int index = Fleet::job_of(event.spec->name);
  trace_jobs_[static_cast<size_t>(event.job.value)] = index;
  JobRecord& record = records_.at(static_cast<size_t>(index));
  record.submit = at_;
  record.gpus = gpus_of(jobs_[index], gpus_of_node_);
  waiting_gpus_ += record.gpus;
  ++waiting_jobs_;
  ++now_.submitted;
}

void Meter::on(const AttemptPlaced& event, const ClusterState& state) {
  JobRecord& record = records_[trace_job(event.job)];
  if (record.first_placed < Duration{0}) record.first_placed = at_;
  given_ += record.gpus;
  waiting_gpus_ -= record.gpus;
  --waiting_jobs_;
  live_.insert(event.job);
  auto zone = [&](const RankPlacement& place) -> const std::string& {
    return state.find(place.node)->facts.zone;
  };
  int pairs = 0;
  for (size_t i = 1; i < event.placement.size(); ++i) {
    pairs += zone(event.placement[i - 1]) != zone(event.placement[i]);
  }
  if (pairs == 0) return;
  crossing_.insert(event.job);
  now_.crossing_pairs_max = std::max(now_.crossing_pairs_max, pairs);
  now_.cross_zone_max = std::max(now_.cross_zone_max, static_cast<int>(crossing_.size()));
}

void Meter::on(const AttemptEnded& event, const ClusterState&) {
  const JobRecord& record = records_[trace_job(event.job)];
  given_ -= record.gpus;
  waiting_gpus_ += record.gpus;
  ++waiting_jobs_;
  live_.erase(event.job);
  crossing_.erase(event.job);
  if (event.outcome == AttemptState::suspended) ++now_.preemptions;
}

void Meter::on(const JobFinished& event, const ClusterState&) {
  JobRecord& record = records_[trace_job(event.job)];
  waiting_gpus_ -= record.gpus;
  --waiting_jobs_;
  record.end = at_;
  now_.makespan = at_;
  ++(event.state == JobState::succeeded ? now_.completed : now_.failed);
}

void Meter::on(const JobRequeued&, const ClusterState&) { ++now_.requeues; }

void Meter::on(const NodeRegistered& event, const ClusterState& state) {
  look_at_node(event.node, state);
}
void Meter::on(const NodeLivenessChanged& event, const ClusterState& state) {
  look_at_node(event.node, state);
}
void Meter::on(const NodeSchedulingChanged& event, const ClusterState& state) {
  look_at_node(event.node, state);
}

void Meter::look_at_node(NodeId id, const ClusterState& state) {
  const Node& node = *state.find(id);
  int gpus = node.takes_jobs() ? node.facts.gpus : 0;
  healthy_ += gpus - std::exchange(healthy_gpus_[id], gpus);
}

void Meter::run_ended(const RunEnded& run) {
  double gpus = gpus_of(jobs_[run.job], gpus_of_node_);
  double lost = gpus * static_cast<double>(run.lost.count());
  lost_ += lost;
  if (run.was_asked) lost_when_asked_ += lost;
  switching_ += gpus * static_cast<double>(run.switching.count());
}

Measures Meter::measures() const {
  Measures result = now_;
  result.last_submit = last_submit_;
  result.utilization = ratio(given_until_last_submit_, healthy_until_last_submit_);
  result.demand_satisfied = ratio(given_in_demand_, healthy_in_demand_);
  result.given_gpu_hours = given_all_ / kMicrosOfHour;
  result.lost_gpu_hours = lost_ / kMicrosOfHour;
  result.lost_when_asked_gpu_hours = lost_when_asked_ / kMicrosOfHour;
  result.switch_gpu_hours = switching_ / kMicrosOfHour;
  result.switch_share = ratio(switching_ + lost_, given_all_);
  std::vector<double> jct;
  std::vector<double> wait;
  std::vector<double> slowdown;
  std::vector<double> short_slowdown;
  for (size_t i = 0; i < records_.size(); ++i) {
    const JobRecord& record = records_[i];
    if (record.first_placed >= Duration{0})
      wait.push_back(seconds(record.first_placed - record.submit));
    if (record.end < Duration{0}) continue;
    Duration work = jobs_[i].work;
    jct.push_back(seconds(record.end - record.submit));
    slowdown.push_back(std::max(1.0, jct.back() / seconds(std::max(work, kSlowdownFloor))));
    if (work < kShortJob) short_slowdown.push_back(slowdown.back());
  }
  result.jct_s = distribution_of(std::move(jct));
  result.wait_s = distribution_of(std::move(wait));
  result.slowdown = distribution_of(std::move(slowdown));
  result.short_job_slowdown = distribution_of(std::move(short_slowdown));
  return result;
}

}  // namespace hai
