#include "server/api/event_meter.h"

#include <algorithm>

namespace hai {

namespace {

const std::vector<double> kWaitBounds = {0.1, 0.5,   1,     5,      15,     60,     300,
                                         900, 1'800, 3'600, 14'400, 43'200, 86'400, 604'800};

double seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

}  // namespace

void SecondsHistogram::add(double seconds) {
  const auto bound = std::ranges::lower_bound(bounds_, seconds);
  ++counts_[static_cast<size_t>(bound - bounds_.begin())];
  sum_ += seconds;
}

std::string size_class(int nodes) {
  if (nodes <= 1) return "1";
  if (nodes <= 8) return "2-8";
  return nodes <= 64 ? "9-64" : "65+";
}

struct EventMeter::Counting {
  EventMeter& meter;
  const ClusterState& state;
  UnixTime at;

  void operator()(const JobSubmitted&) const { ++meter.submitted; }
  void operator()(const AttemptPlaced&) const { ++meter.decisions["place"]; }
  void operator()(const NodesReserved& event) const {
    ++meter.decisions[event.reservation.is_move ? "defragment" : "reserve"];
  }
  void operator()(const ReservationDropped&) const { ++meter.decisions["drop_reservation"]; }
  void operator()(const AttemptContinued&) const { ++meter.decisions["take_back_suspend"]; }
  void operator()(const AttemptRunning& event) const {
    const Job* job = state.find(event.job);
    if (job == nullptr) return;
    const std::string size = size_class(job->spec->node_count);
    meter.waits.try_emplace(size, kWaitBounds)
        .first->second.add(std::max(0.0, seconds(at - job->waiting_since)));
  }
  void operator()(const AttemptSuspending& event) const {
    ++meter.decisions["suspend"];
    ++meter.preemptions[event.beneficiary ? "for_another_job" : "on_request"];
    meter.suspending_[event.job] = at;
  }
  void operator()(const RankEnded& event) const { meter.gpu_seconds += event.gpu_seconds; }
  void operator()(const AttemptEnded& event) const {
    meter.gpu_seconds += event.gpu_seconds;
    meter.lost_gpu_seconds[std::string(to_string(event.outcome))] += event.lost_gpu_seconds;
    const auto asked = meter.suspending_.find(event.job);
    if (asked == meter.suspending_.end()) return;
    meter.suspends.add(std::max(0.0, seconds(at - asked->second)));
    meter.suspending_.erase(asked);
  }
  void operator()(const JobRequeued& event) const {
    ++meter.requeues[event.launch_failed    ? "launch"
                     : event.infrastructure ? "infrastructure"
                                            : "failure"];
  }
  void operator()(const JobFinished& event) const {
    ++meter.finished[std::string(to_string(event.state))];
    meter.suspending_.erase(event.job);
  }
  void operator()(const NodeCheckChanged& event) const {
    if (event.check.verdict == CheckVerdict::fail) ++meter.check_failures[event.check.name];
  }
  template <typename Other>
  void operator()(const Other&) const {}
};

void EventMeter::count(const std::vector<Event>& events, const ClusterState& state) {
  for (const Event& event : events) {
    // A new term: who was being suspended is known no more.
    if (std::holds_alternative<EpochStarted>(event.body)) suspending_.clear();
    std::visit(Counting{*this, state, event.time}, event.body);
  }
}

}  // namespace hai
