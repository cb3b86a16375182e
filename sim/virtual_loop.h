#pragma once
// Virtual time. One Timeline orders every callback of the world; each simulated process has a
// VirtualLoop on it that can be killed (its callbacks never run) or paused (they run late), and
// goes by the clocks of its machine, which may be wrong.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/loop.h"

namespace hai {

class Timeline {
 public:
  MonoTime now() const { return now_; }
  const MonoTime* clock() const { return &now_; }  // what now() says, always
  // Runs callbacks in (time, order of scheduling) until `end`, or until `stop` says so after a
  // callback.
  void run_until(MonoTime end, const std::function<bool()>& stop = nullptr);
  int64_t callbacks_run() const { return callbacks_run_; }

  using Key = std::pair<MonoTime, int64_t>;
  Key schedule(MonoTime at, std::function<void()> callback);
  void cancel(const Key& key) { queue_.erase(key); }

 private:
  MonoTime now_{};
  int64_t next_ = 0;
  int64_t callbacks_run_ = 0;
  std::map<Key, std::function<void()>> queue_;
};

// The clocks of one machine, of all loops on it.
struct MachineClock {
  Duration wall_skew{0};  // may jump
  int64_t drift_ppm = 0;  // of the monotonic clock, for good
};

class VirtualLoop final : public Loop {
 public:
  // `clock` outlives the loop; null = right for ever.
  explicit VirtualLoop(Timeline& timeline, const MachineClock* clock = nullptr);
  ~VirtualLoop() override { kill(); }

  MonoTime now() const override { return local(timeline_.now()); }
  UnixTime wall_now() const override {
    const Duration skew = clock_ == nullptr ? Duration(0) : clock_->wall_skew;
    return kWallStart + now().time_since_epoch() + skew;
  }
  void post(std::function<void()> callback) override { call_after(0s, std::move(callback)); }
  TimerId call_after(Duration delay, std::function<void()> callback) override;
  void cancel(TimerId timer) override;

  void kill();                    // nothing scheduled on it runs any more
  void pause(Duration duration);  // SIGSTOP: what falls due meanwhile runs at the end
  bool is_paused() const { return timeline_.now() < paused_until_; }

  static constexpr UnixTime kWallStart =
      unix_micros(1'767'225'600'000'000);  // 2026-01-01T00:00:00Z

 private:
  void run(TimerId timer);
  void wake();
  MonoTime local(MonoTime true_time) const;
  MonoTime true_time_after(Duration delay) const;
  Timeline& timeline_;
  const MachineClock* clock_;
  MonoTime paused_until_{};
  std::vector<TimerId> late_;  // fell due while it was paused, in that order
  std::optional<Timeline::Key> wake_;
  TimerId next_timer_ = 1;
  std::map<TimerId, std::pair<Timeline::Key, std::function<void()>>> timers_;
};

}  // namespace hai
