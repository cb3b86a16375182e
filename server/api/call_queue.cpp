#include "server/api/call_queue.h"

#include <utility>

namespace hai {

void CallQueue::post(const std::string& user, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    order_.push(user, std::move(work));
    if (std::exchange(is_running_, true)) return;
  }
  loop_.post(scope_.bind([this] { run_slice(); }));
}

bool CallQueue::run_next() {
  std::optional<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    order_.charge(cost_);
    work = order_.pop();
    if (!work) {
      is_running_ = false;
      return false;
    }
  }
  const MonoTime began = loop_.now();
  (*work)();
  work.reset();  // What it holds may be large, and is part of what it costs.
  cost_ = loop_.now() - began;
  return true;
}

void CallQueue::run_slice() {
  const MonoTime end = loop_.now() + kSlice;
  while (run_next()) {
    if (loop_.now() >= end) return loop_.post(scope_.bind([this] { run_slice(); }));
  }
}

void CallQueue::run_all() {
  while (run_next()) {
  }
}

}  // namespace hai
