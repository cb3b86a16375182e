#pragma once
// The way of people's calls to the loop: in a fair order (fair_order.h), and some milliseconds of
// them at a time, so that what agents say and what the scheduler does comes in between, however
// many calls wait.

#include <functional>
#include <mutex>
#include <string>

#include "common/loop.h"
#include "common/loop_scope.h"
#include "server/api/fair_order.h"

namespace hai {

class CallQueue {
 public:
  static constexpr Duration kSlice = 5ms;

  explicit CallQueue(Loop& loop) : loop_(loop) {}

  // Any thread. `work` runs on the loop's. `user`: whose turn it takes; "" = of all whom nobody
  // knows.
  void post(const std::string& user, std::function<void()> work);
  // On the loop's thread, for a server that stops: all that waits runs now.
  void run_all();

 private:
  void run_slice();
  bool run_next();  // false: nothing waits

  Loop& loop_;
  std::mutex mutex_;
  FairOrder<std::function<void()>> order_;
  Duration cost_{};          // of the last work
  bool is_running_ = false;  // a slice is posted, or at it
  LoopScope scope_;
};

}  // namespace hai
