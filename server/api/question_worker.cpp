#include "server/api/question_worker.h"

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

bool QuestionWorker::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kWaitingMax) return false;
    queue_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

bool QuestionWorker::is_idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !is_busy_;
}

void QuestionWorker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    if (is_stopping_) return;
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    is_busy_ = true;
    lock.unlock();
    work();
    work = nullptr;  // What it holds may be large.
    lock.lock();
    is_busy_ = false;
  }
}

}  // namespace hai
