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
#include <tuple>
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
  // When the next callback runs; nullopt if none is scheduled.
  std::optional<MonoTime> next();
  // Shorter delays are none: for a world whose times are few.
  Duration grain{0};

  // Names a scheduled callback; of no use once it has run or was cancelled.
  struct Key {
    size_t slot = 0;
    int64_t order = 0;
  };
  // Of one moment, those of lower rank run first, and of one rank in order of scheduling.
  Key schedule(MonoTime at, std::function<void()> callback, int64_t rank = 0);
  void cancel(const Key& key);

 private:
  // A cancelled callback leaves its place in the heap: its slot has another order then, or none.
  struct Slot {
    int64_t order = 0;
    std::function<void()> callback;
  };
  struct Due {
    MonoTime at{};
    int64_t rank = 0;
    int64_t order = 0;
    size_t slot = 0;
    bool operator<(const Due& other) const {  // the first is on the heap's top
      return std::tie(at, rank, order) > std::tie(other.at, other.rank, other.order);
    }
  };
  std::function<void()> take(size_t slot);

  MonoTime now_{};
  int64_t next_ = 1;
  int64_t callbacks_run_ = 0;
  std::vector<Due> heap_;
  std::vector<Slot> slots_;
  std::vector<size_t> free_slots_;
};

// The clocks of one machine, of all loops on it.
struct MachineClock {
  Duration wall_skew{0};  // may jump
  int64_t drift_ppm = 0;  // of the monotonic clock, for good
  Duration slipped{0};    // so much it has lost at once; see VirtualLoop::postpone
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
  void resume();                  // SIGCONT, before that end
  // The clock has slipped by so much: what is scheduled falls due later.
  void postpone(Duration slip);
  bool is_paused() const { return timeline_.now() < paused_until_; }
  // From 1: of one moment, this loop's timers run before those of a higher rank and those with the
  // shorter delays first, so that which was set first makes no difference; what is posted goes
  // before all of them. 0 = everything in order of scheduling.
  void set_rank(int rank) { rank_ = rank; }
  // Of each callback on it, with which delay it was set and how long until it falls due, in the
  // order in which they will run; 0 if it only waits for the end of a pause.
  struct DueTimer {
    Duration delay{0};
    Duration left{0};
  };
  std::vector<DueTimer> due() const;

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
  // A timer's id tells its slot, and that it is not an earlier timer of that slot.
  struct Timer {
    TimerId id = 0;  // 0 = the slot is free
    Timeline::Key key;
    MonoTime at{};
    Duration delay{0};
    std::function<void()> callback;
  };
  static constexpr int kSlotBits = 24;
  static constexpr int kDelayBits = 46;  // of microseconds, above them the loop's rank
  int64_t rank_of(Duration delay) const {
    if (rank_ == 0 || delay == Duration{0}) return 0;
    return (int64_t{rank_} << kDelayBits) | delay.count();
  }
  int rank_ = 0;
  Timer* find(TimerId timer);
  std::function<void()> take(Timer& timer);
  TimerId next_timer_ = 1;
  std::vector<Timer> timers_;
  std::vector<size_t> free_timers_;
};

}  // namespace hai
