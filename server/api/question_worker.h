#pragma once
// A thread for questions that take long (seconds): what-if and forecasts. The loop hands it work
// with everything that the work needs; the work posts its answer back. So many may wait, not more.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace hai {

class QuestionWorker {
 public:
  static constexpr size_t kWaitingMax = 16;

  QuestionWorker();
  ~QuestionWorker();  // after the work at hand; what waits is dropped
  QuestionWorker(const QuestionWorker&) = delete;
  QuestionWorker& operator=(const QuestionWorker&) = delete;

  // False if too much waits already.
  bool post(std::function<void()> work);
  bool is_idle() const;

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool is_busy_ = false;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses all above
};

}  // namespace hai
