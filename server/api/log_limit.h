#pragma once
// How often a line is written that others can cause: so many a minute. Those left out are
// counted, for the next line to tell. Thread-safe.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace hai {

class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LogLimit(int per_minute) : per_minute_(per_minute) {}

  // How many lines were left out before this one; nothing = leave this one out, too.
  std::optional<int64_t> next(Clock::time_point now = Clock::now()) {
    const std::lock_guard lock(mutex_);
    if (now - began_ >= std::chrono::minutes(1)) {
      began_ = now;
      written_ = 0;
    }
    if (written_ == per_minute_) {
      ++left_out_;
      return std::nullopt;
    }
    ++written_;
    return std::exchange(left_out_, 0);
  }

 private:
  const int per_minute_;
  std::mutex mutex_;
  Clock::time_point began_{};
  int written_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace hai
