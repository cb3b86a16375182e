#include "common/log_store/side_thread.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace hai {

namespace {

constexpr auto kPatience = std::chrono::seconds(2);

}  // namespace

struct SideThread::State {
  State(Loop& used_loop, size_t max) : loop(used_loop), waiting_max(max) {}

  Loop& loop;  // not used once is_stopping
  const size_t waiting_max;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> queue;
  bool is_busy = false;
  bool is_stopping = false;
};

SideThread::SideThread(Loop& loop, size_t waiting_max)
    : state_(std::make_shared<State>(loop, waiting_max)) {
  std::thread([state = state_] { run(state); }).detach();
}

SideThread::~SideThread() {
  std::unique_lock lock(state_->mutex);
  state_->is_stopping = true;
  state_->queue.clear();
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kPatience, [this] { return !state_->is_busy; });
}

bool SideThread::post(Work work) {
  const std::lock_guard lock(state_->mutex);
  if (state_->queue.size() >= state_->waiting_max) return false;
  state_->queue.push_back(std::move(work));
  state_->changed.notify_all();
  return true;
}

bool SideThread::is_idle() const {
  const std::lock_guard lock(state_->mutex);
  return state_->queue.empty() && !state_->is_busy;
}

void SideThread::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (true) {
    state->changed.wait(lock, [&] { return state->is_stopping || !state->queue.empty(); });
    if (state->is_stopping) return;
    Work work = std::move(state->queue.front());
    state->queue.pop_front();
    state->is_busy = true;
    lock.unlock();
    Answer answer = work();
    work = nullptr;  // What it holds may be large.
    lock.lock();
    state->is_busy = false;
    if (answer && !state->is_stopping) state->loop.post(std::move(answer));
    state->changed.notify_all();
  }
}

}  // namespace hai
