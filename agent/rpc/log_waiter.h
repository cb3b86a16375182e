#pragma once
// Answers log requests: reads at once, and at the end of a live rank's log asks again until there
// is more or `wait` is over. Loop thread only. kMaxWaiting requests wait that long; what comes
// beyond waits a moment, so that who asks again and again does not do it all the time.

#include <functional>
#include <map>

#include "agent/core/log_source.h"
#include "common/loop.h"

namespace hai {

class LogWaiter {
 public:
  static constexpr size_t kMaxWaiting = 64;
  static constexpr Duration kPollPeriod = 100ms;
  using Done = std::function<void(LogChunk)>;

  LogWaiter(Loop& loop, LogSource& source) : loop_(loop), source_(source) {}
  ~LogWaiter() { drop_all(); }
  LogWaiter(const LogWaiter&) = delete;
  LogWaiter& operator=(const LogWaiter&) = delete;

  // `done` is called exactly once, perhaps before this returns, unless drop_all() comes first.
  void read(const LogRequest& request, Done done);
  // Forgets the waiting requests: whoever asked is gone.
  void drop_all();

 private:
  struct Waiting {
    LogRequest request;
    MonoTime until;
    Done done;
    TimerId timer = 0;
  };
  void poll(int64_t id);
  void arm(int64_t id, Waiting& waiting);

  Loop& loop_;
  LogSource& source_;
  std::map<int64_t, Waiting> waiting_;
  int64_t next_id_ = 1;
};

}  // namespace hai
