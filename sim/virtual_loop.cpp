#include "sim/virtual_loop.h"

#include <algorithm>

namespace hai {

void Timeline::run_until(MonoTime end, const std::function<bool()>& stop) {
  while (!queue_.empty() && queue_.begin()->first.first <= end) {
    auto first = queue_.extract(queue_.begin());
    now_ = std::max(now_, first.key().first);
    ++callbacks_run_;
    first.mapped()();
    if (stop && stop()) return;
  }
  now_ = std::max(now_, end);
}

Timeline::Key Timeline::schedule(MonoTime at, std::function<void()> callback) {
  Key key{std::max(at, now_), next_++};
  queue_.emplace(key, std::move(callback));
  return key;
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

TimerId VirtualLoop::call_after(Duration delay, std::function<void()> callback) {
  TimerId timer = next_timer_++;
  if (delay < timeline_.grain) delay = Duration{0};
  Timeline::Key key = timeline_.schedule(true_time_after(std::max(delay, Duration{0})),
                                         [this, timer] { run(timer); });
  timers_.emplace(timer, std::pair(key, std::move(callback)));
  return timer;
}

void VirtualLoop::run(TimerId timer) {
  auto it = timers_.find(timer);
  if (is_paused()) {
    late_.push_back(timer);
    if (!wake_) wake_ = timeline_.schedule(paused_until_, [this] { wake(); });
    return;
  }
  std::function<void()> callback = std::move(it->second.second);
  timers_.erase(it);
  callback();
}

// In the order in which they fell due, however often the pause was prolonged.
void VirtualLoop::wake() {
  wake_.reset();
  if (is_paused()) {
    wake_ = timeline_.schedule(paused_until_, [this] { wake(); });
    return;
  }
  for (TimerId timer : std::exchange(late_, {})) {
    auto it = timers_.find(timer);
    if (it == timers_.end()) continue;
    it->second.first = timeline_.schedule(timeline_.now(), [this, timer] { run(timer); });
  }
}

void VirtualLoop::postpone(Duration slip) {
  for (auto& [timer, entry] : timers_) {
    if (std::ranges::find(late_, timer) != late_.end()) continue;
    const MonoTime at = entry.first.first + slip;
    timeline_.cancel(entry.first);
    entry.first = timeline_.schedule(at, [this, timer = timer] { run(timer); });
  }
}

std::vector<Duration> VirtualLoop::due() const {
  std::vector<Duration> delays;
  delays.reserve(timers_.size());
  for (const auto& [timer, entry] : timers_) {
    delays.push_back(std::max(Duration{0}, entry.first.first - timeline_.now()));
  }
  std::ranges::sort(delays);
  return delays;
}

void VirtualLoop::cancel(TimerId timer) {
  auto it = timers_.find(timer);
  if (it == timers_.end()) return;
  timeline_.cancel(it->second.first);
  timers_.erase(it);
}

void VirtualLoop::kill() {
  for (auto& [timer, entry] : timers_) timeline_.cancel(entry.first);
  timers_.clear();
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
