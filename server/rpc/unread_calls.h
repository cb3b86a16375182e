#pragma once
// Calls that were let in unread, by a server that does not know yet, or not any more, who people
// are: gRPC holds up to 4 MB of each until its message is whole, and does not tell of one that ends
// before. So only so many are let in whose message has not come; where its connection may end (see
// ListenerLimits), each is given up after a while. Any thread.

#include <deque>
#include <mutex>

#include "common/time.h"

namespace hai {

class UnreadCalls {
 public:
  static constexpr size_t kMax = 64;
  static constexpr Duration kLife = 10s;  // longer than a stranger's connection

  // False: too many have not been read.
  bool begin(MonoTime now) {
    const std::lock_guard lock(mutex_);
    while (!begun_.empty() && now - begun_.front() >= kLife) begun_.pop_front();
    if (begun_.size() >= kMax) return false;
    begun_.push_back(now);
    return true;
  }
  // The message of one has come. Which one is not known: the oldest is taken for it.
  void end() {
    const std::lock_guard lock(mutex_);
    if (!begun_.empty()) begun_.pop_front();
  }

 private:
  std::mutex mutex_;
  std::deque<MonoTime> begun_;
};

}  // namespace hai
