#pragma once
// A thread with a PostgreSQL session that does what the loop asks, one thing after the other, and
// answers on the loop. Belongs to the loop's thread, which must outlive it. An answer never comes
// after the worker is destroyed.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "common/loop.h"
#include "common/status.h"
#include "server/store/pg_session.h"

namespace hai {

class PgWorker {
 public:
  // Runs on the worker's thread; a PgError thrown becomes `unavailable` with its text.
  using Work = std::function<Status(PgSession&)>;
  using Done = std::function<void(Status)>;

  PgWorker(Loop& loop, PgOptions options, size_t queue_max);
  // Drops what waits; what is under way gets a moment to end.
  ~PgWorker();

  // `resource_exhausted` if too much waits. Work that has not ended after `limit` from now on is
  // interrupted or never begun: a database that hangs must not hang its callers.
  void submit(Work work, Done done, Duration limit);

 private:
  struct Task {
    int64_t number = 0;
    Work work;
    Done done;
    TimerId timer = 0;
  };
  void run();
  void answer(Task task, Status status);
  TimerId time_out_after(Duration limit, int64_t number);
  void time_out(int64_t number);

  Loop& loop_;
  const size_t queue_max_;
  PgSession session_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // loop's thread only
  int64_t last_number_ = 0;                                     // loop's thread only

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  int64_t under_way_ = 0;  // number, 0 = none
  bool stopping_ = false;
  std::thread thread_;  // last: everything else is ready when it starts
};

}  // namespace hai
