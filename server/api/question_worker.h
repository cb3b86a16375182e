#pragma once
// A thread for questions that take long (seconds): what-if and forecasts. The loop hands it work
// with everything that the work needs; the work posts its answer back. So many may wait, not more,
// of one person a share (admission.h), and people take turns (fair_order.h).

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "server/api/fair_order.h"

namespace hai {

class QuestionWorker {
 public:
  static constexpr int64_t kWaitingMax = 16;

  QuestionWorker();
  ~QuestionWorker();  // after the work at hand; what waits is dropped
  QuestionWorker(const QuestionWorker&) = delete;
  QuestionWorker& operator=(const QuestionWorker&) = delete;

  // False if too much waits already. `user`: who asks; "" = nobody of his own, who has no share but
  // may have all.
  bool post(std::function<void()> work, const std::string& user = "");
  bool is_idle() const;

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  FairOrder<std::function<void()>> order_;
  bool is_busy_ = false;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace hai
