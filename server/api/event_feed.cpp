#include "server/api/event_feed.h"

#include <set>

namespace hai {

void EventFeed::durable(const std::vector<Event>& events, const ClusterState& state) {
  std::set<JobId> jobs = {JobId{}};  // the key of those who watch everything
  for (const Event& event : events) {
    keep(event);
    if (std::holds_alternative<EpochStarted>(event.body)) epoch_started_at_ = event.time;
    if (JobId job = job_of(event.body)) jobs.insert(job);
  }
  for (const Observer& observer : observers_) observer(events, state);
  std::vector<WatchId> told;
  for (JobId job : jobs) {
    auto [first, last] = by_job_.equal_range(job);
    for (auto it = first; it != last; ++it) told.push_back(it->second);
  }
  tell(told);
}

void EventFeed::keep(const Event& event) {
  // After a change of leader the numbers may go on elsewhere: what is kept has no gaps.
  if (event.seq != last_seq_ + 1) {
    events_.clear();
    bytes_ = 0;
  }
  last_seq_ = event.seq;
  events_.push_back(event);
  bytes_ += memory_bytes(event);
  while (events_.size() > 1 && (events_.size() > kept_max_ || bytes_ > bytes_max_)) {
    bytes_ -= memory_bytes(events_.front());
    events_.pop_front();
  }
}

// Whoever waits for events of a server that does not lead any more would wait for ever: asking
// again, he is refused and goes where the leader is. After a change of terms he may have missed
// something.
void EventFeed::standing_changed() {
  if (on_standing_) on_standing_();
  std::vector<WatchId> told;
  for (const auto& [id, watch] : watches_) told.push_back(id);
  tell(told);
}

void EventFeed::tell(const std::vector<WatchId>& watches) {
  for (WatchId id : watches) {
    auto found = watches_.find(id);
    if (found == watches_.end()) continue;
    const std::function<void()> callback = found->second.told;  // it may drop itself
    callback();
  }
}

const Event* EventFeed::find(int64_t seq) const {
  if (seq <= before_first() || seq > last_seq_) return nullptr;
  return &events_[static_cast<size_t>(seq - events_.front().seq)];
}

EventFeed::WatchId EventFeed::watch(JobId job, std::function<void()> told) {
  const WatchId id = ++last_watch_;
  watches_[id] = {job, std::move(told)};
  by_job_.emplace(job, id);
  return id;
}

void EventFeed::unwatch(WatchId id) {
  auto found = watches_.find(id);
  if (found == watches_.end()) return;
  auto [first, last] = by_job_.equal_range(found->second.job);
  for (auto it = first; it != last; ++it) {
    if (it->second != id) continue;
    by_job_.erase(it);
    break;
  }
  watches_.erase(found);
}

}  // namespace hai
