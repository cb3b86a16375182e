#include "server/store/pg_worker.h"

#include <algorithm>
#include <utility>

namespace hai {
namespace {
// For the request under way when the worker is destroyed.
constexpr Duration kLastMoment = 2s;
constexpr Duration kInterruptAgain = 1s;
}  // namespace

PgWorker::PgWorker(Loop& loop, PgOptions options, size_t queue_max)
    : loop_(loop),
      queue_max_(queue_max),
      session_(std::move(options)),
      thread_([this] { run(); }) {}

PgWorker::~PgWorker() {
  *alive_ = false;
  std::deque<Task> dropped;
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
    changed_.notify_all();
    changed_.wait_for(lock, kLastMoment, [this] { return under_way_ == 0; });
    if (under_way_ != 0) session_.interrupt();
  }
  for (const Task& task : dropped) loop_.cancel(task.timer);
  thread_.join();
}

void PgWorker::submit(Work work, Done done, Duration limit) {
  std::unique_lock lock(mutex_);
  if (queue_.size() >= queue_max_) {
    lock.unlock();
    loop_.post([alive = alive_, done = std::move(done), max = queue_max_] {
      if (*alive) done(resource_exhausted("{} requests already wait for the database", max));
    });
    return;
  }
  const int64_t number = ++last_number_;
  const TimerId timer = time_out_after(limit, number);
  queue_.push_back({number, std::move(work), std::move(done), timer});
  changed_.notify_all();
}

TimerId PgWorker::time_out_after(Duration limit, int64_t number) {
  return loop_.call_after(limit, [this, alive = alive_, number] {
    if (*alive) time_out(number);
  });
}

void PgWorker::time_out(int64_t number) {
  std::unique_lock lock(mutex_);
  if (under_way_ == number) {  // it fails, and answers by itself
    session_.interrupt();
    // While it connects there is nothing to interrupt yet, or it may try once more.
    time_out_after(kInterruptAgain, number);
    return;
  }
  const auto waiting = std::ranges::find(queue_, number, &Task::number);
  if (waiting == queue_.end()) return;  // its answer is on the way
  const Task late = std::move(*waiting);
  queue_.erase(waiting);
  lock.unlock();
  late.done(unavailable("postgres: still busy with an earlier request"));
}

void PgWorker::answer(Task task, Status status) {
  loop_.post([this, alive = alive_, timer = task.timer, done = std::move(task.done),
              status = std::move(status)] {
    if (!*alive) return;
    loop_.cancel(timer);
    done(status);
  });
}

void PgWorker::run() {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      under_way_ = 0;
      changed_.notify_all();
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) break;
      task = std::move(queue_.front());
      queue_.pop_front();
      under_way_ = task.number;
    }
    Status status;
    try {
      status = task.work(session_);
    } catch (const PgError& error) {
      session_.close();  // also ends a transaction that a row nobody can read has cut short
      status = unavailable("postgres: {}", error.what());
    } catch (const std::exception& error) {  // no memory, or no thread to read a page with
      session_.close();
      status = unavailable("the store's work has failed: {}", error.what());
    }
    task.work = nullptr;
    answer(std::move(task), std::move(status));
  }
  session_.close();
}

}  // namespace hai
