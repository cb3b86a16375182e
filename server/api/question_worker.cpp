#include "server/api/question_worker.h"

#include <chrono>

#include "server/api/admission.h"

namespace hai {

QuestionWorker::QuestionWorker() : thread_([this] { run(); }) {}

QuestionWorker::~QuestionWorker() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool QuestionWorker::post(std::function<void()> work, const std::string& user) {
  {
    const std::lock_guard lock(mutex_);
    const auto all = static_cast<int64_t>(order_.size());
    const auto own = user.empty() ? 0 : static_cast<int64_t>(order_.waiting_of(user));
    if (all >= kWaitingMax || (own > 0 && !is_within_share(own, all, 1, kWaitingMax))) return false;
    order_.push(user, std::move(work));
  }
  changed_.notify_one();
  return true;
}

bool QuestionWorker::is_idle() const {
  const std::lock_guard lock(mutex_);
  return order_.size() == 0 && !is_busy_;
}

void QuestionWorker::run() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || order_.size() > 0; });
    if (is_stopping_) return;
    std::optional<std::function<void()>> work = order_.pop();
    is_busy_ = true;
    lock.unlock();
    const Clock::time_point began = Clock::now();
    (*work)();
    work.reset();  // What it holds may be large.
    lock.lock();
    order_.charge(std::chrono::duration_cast<Duration>(Clock::now() - began));
    is_busy_ = false;
  }
}

}  // namespace hai
