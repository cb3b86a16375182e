#include "agent/rpc/log_waiter.h"

#include <algorithm>

namespace hai {

namespace {

bool is_final(const LogChunk& chunk) {
  return !chunk.data.empty() || chunk.end || !chunk.error.empty();
}

}  // namespace

void LogWaiter::read(const LogRequest& request, Done done) {
  LogChunk chunk = source_.read(request);
  const Duration wait = std::clamp(request.wait, Duration(0), kMaxLogWait);
  if (is_final(chunk) || wait == Duration(0)) {
    done(std::move(chunk));
    return;
  }
  // Who is one too many hears soon that there is nothing, but not at once: he asks again then.
  const Duration most = waiting_.size() < kMaxWaiting ? wait : std::min(wait, kPollPeriod);
  const int64_t id = next_id_++;
  Waiting& waiting = waiting_[id];
  waiting = {.request = request, .until = loop_.now() + most, .done = std::move(done)};
  // From here on it is a plain read at the place the first one found.
  waiting.request.offset = chunk.next_offset;
  waiting.request.tail_bytes = 0;
  arm(id, waiting);
}

void LogWaiter::drop_all() {
  for (const auto& [id, waiting] : waiting_) loop_.cancel(waiting.timer);
  waiting_.clear();
}

void LogWaiter::arm(int64_t id, Waiting& waiting) {
  waiting.timer = loop_.call_after(kPollPeriod, [this, id] { poll(id); });
}

void LogWaiter::poll(int64_t id) {
  auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  Waiting& waiting = found->second;
  LogChunk chunk = source_.read(waiting.request);
  if (!is_final(chunk) && loop_.now() < waiting.until) {
    arm(id, waiting);
    return;
  }
  Done done = std::move(waiting.done);
  waiting_.erase(found);
  done(std::move(chunk));
}

}  // namespace hai
