#include "sim/virtual_loop.h"

#include <algorithm>

namespace hai {

std::function<void()> Timeline::take(size_t slot) {
  slots_[slot].order = 0;
  free_slots_.push_back(slot);
  return std::exchange(slots_[slot].callback, nullptr);
}

void Timeline::run_until(MonoTime end, const std::function<bool()>& stop) {
  while (!heap_.empty() && heap_.front().at <= end) {
    const Due due = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    if (slots_[due.slot].order != due.order) continue;  // cancelled
    now_ = std::max(now_, due.at);
    ++callbacks_run_;
    take(due.slot)();
    if (stop && stop()) return;
  }
  now_ = std::max(now_, end);
}

Timeline::Key Timeline::schedule(MonoTime at, std::function<void()> callback, int64_t rank) {
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const Key key{free_slots_.back(), next_++};
  free_slots_.pop_back();
  slots_[key.slot] = {key.order, std::move(callback)};
  heap_.push_back({std::max(at, now_), rank, key.order, key.slot});
  std::push_heap(heap_.begin(), heap_.end());
  return key;
}

std::optional<MonoTime> Timeline::next() {
  while (!heap_.empty() && slots_[heap_.front().slot].order != heap_.front().order) {
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  return heap_.empty() ? std::nullopt : std::optional(heap_.front().at);
}

void Timeline::cancel(const Key& key) {
  if (slots_[key.slot].order == key.order) take(key.slot);
}

VirtualLoop::VirtualLoop(Timeline& timeline, const MachineClock* clock)
    : timeline_(timeline), clock_(clock) {}

MonoTime VirtualLoop::local(MonoTime true_time) const {
  if (clock_ == nullptr) return true_time;
  if (clock_->drift_ppm == 0) return true_time - clock_->slipped;
  return true_time - clock_->slipped + true_time.time_since_epoch() * clock_->drift_ppm / 1'000'000;
}

// The first moment at which `delay` has passed by the machine's clock.
MonoTime VirtualLoop::true_time_after(Duration delay) const {
  if (clock_ == nullptr || clock_->drift_ppm == 0) return timeline_.now() + delay;
  const MonoTime target = now() + delay;
  MonoTime at = timeline_.now() + delay * 1'000'000 / (1'000'000 + clock_->drift_ppm);
  while (local(at) >= target && at > timeline_.now()) at -= Duration(1);
  while (local(at) < target) at += Duration(1);
  return at;
}

VirtualLoop::Timer* VirtualLoop::find(TimerId timer) {
  const auto slot = static_cast<size_t>(timer) & ((size_t{1} << kSlotBits) - 1);
  const bool is_known = timer != 0 && slot < timers_.size() && timers_[slot].id == timer;
  return is_known ? &timers_[slot] : nullptr;
}

std::function<void()> VirtualLoop::take(Timer& timer) {
  timer.id = 0;
  free_timers_.push_back(static_cast<size_t>(&timer - timers_.data()));
  return std::exchange(timer.callback, nullptr);
}

TimerId VirtualLoop::call_after(Duration delay, std::function<void()> callback) {
  if (free_timers_.empty()) {
    free_timers_.push_back(timers_.size());
    timers_.emplace_back();
  }
  const size_t slot = free_timers_.back();
  free_timers_.pop_back();
  const TimerId timer = (next_timer_++ << kSlotBits) | static_cast<TimerId>(slot);
  delay = delay < timeline_.grain ? Duration{0} : std::max(delay, Duration{0});
  const MonoTime at = true_time_after(delay);
  const Timeline::Key key = timeline_.schedule(
      at, [this, timer] { run(timer); }, rank_of(delay));
  timers_[slot] = {timer, key, at, delay, std::move(callback)};
  return timer;
}

void VirtualLoop::run(TimerId timer) {
  if (is_paused()) {
    late_.push_back(timer);
    if (!wake_) wake_ = timeline_.schedule(paused_until_, [this] { wake(); });
    return;
  }
  take (*find(timer))();
}

// In the order in which they fell due, however often the pause was prolonged.
void VirtualLoop::wake() {
  wake_.reset();
  if (is_paused()) {
    wake_ = timeline_.schedule(paused_until_, [this] { wake(); });
    return;
  }
  for (TimerId timer : std::exchange(late_, {})) {
    if (Timer* late = find(timer)) {
      late->key = timeline_.schedule(timeline_.now(), [this, timer] { run(timer); });
    }
  }
}

void VirtualLoop::postpone(Duration slip) {
  for (Timer& timer : timers_) {
    if (timer.id == 0 || std::ranges::find(late_, timer.id) != late_.end()) continue;
    timeline_.cancel(timer.key);
    timer.at += slip;
    timer.key = timeline_.schedule(
        timer.at, [this, id = timer.id] { run(id); }, rank_of(timer.delay));
  }
}

std::vector<VirtualLoop::DueTimer> VirtualLoop::due() const {
  std::vector<DueTimer> due;
  std::set<TimerId> late;
  for (const TimerId id : late_) {
    const Timer* timer = const_cast<VirtualLoop*>(this)->find(id);
    if (timer == nullptr) continue;
    late.insert(id);
    due.push_back({timer->delay, Duration{0}});
  }
  const size_t first = due.size();
  for (const Timer& timer : timers_) {
    if (timer.id != 0 && !late.contains(timer.id))
      due.push_back({timer.delay, timer.at - timeline_.now()});
  }
  std::sort(due.begin() + static_cast<ptrdiff_t>(first), due.end(),
            [](const DueTimer& one, const DueTimer& other) {
              return std::tie(one.left, one.delay) < std::tie(other.left, other.delay);
            });
  return due;
}

void VirtualLoop::cancel(TimerId timer) {
  Timer* found = find(timer);
  if (found == nullptr) return;
  timeline_.cancel(found->key);
  take(*found);
}

void VirtualLoop::kill() {
  for (Timer& timer : timers_) {
    if (timer.id != 0) timeline_.cancel(timer.key);
  }
  timers_.clear();
  free_timers_.clear();
  if (wake_) timeline_.cancel(*wake_);
  wake_.reset();
  late_.clear();
}

void VirtualLoop::pause(Duration duration) {
  paused_until_ = std::max(paused_until_, timeline_.now() + duration);
}

void VirtualLoop::resume() {
  paused_until_ = timeline_.now();
  if (!wake_) return;
  timeline_.cancel(*wake_);
  wake();
}

}  // namespace hai
