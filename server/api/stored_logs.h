#pragma once
// The log store as servers use it: reads what agents have brought there, for logs whose node is
// away or has forgotten them, and keeps it within its limits while this server leads. On the loop's
// thread; the storage is waited for on threads of its own.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/log_store/keeper.h"
#include "common/log_store/reader.h"
#include "common/log_store/side_thread.h"
#include "common/loop.h"
#include "common/loop_scope.h"
#include "server/api/source.h"

namespace hai {

struct StoredLogsOptions {
  std::string path;
  std::string cluster;  // whose store it must be
  LogKeepRules rules;
  Duration sweep_every{10min};
};

struct StoredLogsStats {
  int64_t reads = 0;
  int64_t reads_failed = 0;  // because of the storage, not because too many were asked
  SweepResult kept;          // of the last sweep; what was deleted, since this server started
  bool is_failing = false;
};

class StoredLogs {
 public:
  static constexpr size_t kReadsWaitingMax = 64;
  static constexpr Duration kReadTimeout = 10s;
  using AttemptKey = std::pair<JobId, int>;
  // The attempts that have not ended; none if this server does not lead.
  using Live = std::function<std::optional<std::set<AttemptKey>>()>;

  StoredLogs(Loop& loop, StoredLogsOptions options);
  virtual ~StoredLogs();
  StoredLogs(const StoredLogs&) = delete;
  StoredLogs& operator=(const StoredLogs&) = delete;

  // Begins a store that is empty, and sweeps from now on while there is something `live`.
  void start(Live live);
  // `done` is called exactly once, never from inside this call, unless this goes first. not_found:
  // the store has no such log; unavailable: it cannot be read, with the reason.
  virtual void read(const StoredLogRequest& request, Done<StoredLogPart> done);
  const StoredLogsStats& stats() const { return stats_; }
  // From the next sweep on.
  void set_rules(const LogKeepRules& rules, Duration sweep_every) {
    options_.rules = rules;
    options_.sweep_every = sweep_every;
  }

 private:
  struct Shared;
  struct Pending {
    Done<StoredLogPart> done;
    // Shared with the thread: a read that nobody waits for any more is not begun.
    std::shared_ptr<std::atomic<bool>> is_over;
    TimerId timer = 0;
  };
  void open_store();
  void sweep();
  void swept(const Result<SweepResult>& result);
  void finish(int64_t id, Result<StoredLogPart> result);
  void note_read(const Status& status);
  void note_sweep(const Status& status);
  void note(Status& noted, const Status& status);

  Loop& loop_;
  StoredLogsOptions options_;
  const std::shared_ptr<Shared> shared_;
  Live live_;
  StoredLogsStats stats_;
  Status noted_of_reads_;
  Status noted_of_sweeps_;
  std::map<int64_t, Pending> pending_;
  int64_t last_id_ = 0;
  LoopScope scope_;
  LoopTimer sweep_timer_;
  SideThread reads_;   // last: what they answer uses all above
  SideThread sweeps_;  // a long one holds up no reader
};

}  // namespace hai
