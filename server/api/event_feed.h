#pragma once
// The newest events, and word to whoever waits for more. On the loop's thread. The ring is every
// watcher's queue: a watcher reads from where it stands when it is ready, and one that falls behind
// the ring's start is told so (docs/contract.md, Server: slow watchers are cut off, not waited
// for).

#include <deque>
#include <functional>
#include <map>

#include "server/control/ports.h"

namespace hai {

class EventFeed final : public EventSink {
 public:
  // So many events, and so many bytes with their texts; the newest one always.
  explicit EventFeed(size_t kept_max = 100'000, int64_t bytes_max = 64 << 20)
      : kept_max_(kept_max), bytes_max_(bytes_max) {}

  void durable(const std::vector<Event>& events, const ClusterState& state) override;
  void standing_changed() override;
  // Told of all events too, before whoever watches; for as long as the feed lives.
  using Observer = std::function<void(const std::vector<Event>&, const ClusterState&)>;
  void add_observer(Observer observer) { observers_.push_back(std::move(observer)); }
  // Called first when the server's standing changes.
  void set_standing_callback(std::function<void()> callback) { on_standing_ = std::move(callback); }

  // Kept are the events after this seq up to last_seq(), without gaps.
  int64_t before_first() const { return events_.empty() ? last_seq_ : events_.front().seq - 1; }
  int64_t last_seq() const { return last_seq_; }
  UnixTime epoch_started_at() const { return epoch_started_at_; }  // of the newest epoch seen
  // nullptr if it is not kept (any more) or has not come.
  const Event* find(int64_t seq) const;

  using WatchId = int64_t;  // 0 is never one
  // `told` is called after each batch that has something for it: any event, or one about the job.
  // It may add and drop watches.
  WatchId watch(JobId job, std::function<void()> told);  // JobId{}: all events
  void unwatch(WatchId id);
  size_t watch_count() const { return watches_.size(); }

 private:
  struct Watch {
    JobId job;
    std::function<void()> told;
  };

  void keep(const Event& event);
  void tell(const std::vector<WatchId>& watches);

  const size_t kept_max_;
  const int64_t bytes_max_;
  std::function<void()> on_standing_;
  std::vector<Observer> observers_;
  std::deque<Event> events_;
  int64_t bytes_ = 0;  // of these
  int64_t last_seq_ = 0;
  UnixTime epoch_started_at_{};
  std::map<WatchId, Watch> watches_;
  std::multimap<JobId, WatchId> by_job_;
  WatchId last_watch_ = 0;
};

}  // namespace hai
