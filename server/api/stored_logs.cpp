#include "server/api/stored_logs.h"

#include "common/log.h"

namespace hai {

// What the threads have; it outlives us if storage holds them.
struct StoredLogs::Shared {
  const std::string path;
  const std::string cluster;
  StoredLogReader reader;  // of the reading thread

  Result<LogStore> open() const { return LogStore::open_as_server(path, cluster); }
};

StoredLogs::StoredLogs(Loop& loop, StoredLogsOptions options)
    : loop_(loop),
      options_(std::move(options)),
      shared_(new Shared{.path = options_.path, .cluster = options_.cluster, .reader = {}}),
      sweep_timer_(loop),
      reads_(loop, kReadsWaitingMax),
      sweeps_(loop, 1) {}

StoredLogs::~StoredLogs() {
  for (const auto& [id, pending] : pending_) loop_.cancel(pending.timer);
}

void StoredLogs::start(Live live) {
  live_ = std::move(live);
  open_store();
  sweep_timer_.arm(options_.sweep_every, [this] { sweep(); });
}

void StoredLogs::open_store() {
  sweeps_.post([shared = shared_, bound = scope_.bind([this](const Status& status) {
                 note(status);
               })]() -> SideThread::Answer {
    const Status status = shared->open().status();
    return [bound, status] { bound(status); };
  });
}

void StoredLogs::read(const StoredLogRequest& request, Done<StoredLogPart> done) {
  const int64_t id = ++last_id_;
  Pending& pending = pending_[id];
  pending.done = std::move(done);
  ++stats_.reads;
  const bool is_taken =
      reads_.post([shared = shared_, request,
                   bound = scope_.bind([this, id](const Result<StoredLogPart>& result) {
                     finish(id, result);
                   })]() -> SideThread::Answer {
        const Result<LogStore> store = shared->open();
        const Result<StoredLogPart> result =
            store.is_ok() ? shared->reader.read(store.value(), request) : store.status();
        return [bound, result] { bound(result); };
      });
  if (!is_taken) {
    pending.timer = loop_.call_after(Duration(0), [this, id] {
      finish(id, resource_exhausted("too many logs are being read from the log store already; try "
                                    "again later"));
    });
    return;
  }
  pending.timer = loop_.call_after(kReadTimeout, [this, id] {
    const Status silent = deadline_exceeded("log store {}: does not answer", options_.path);
    note(silent);
    finish(id, silent);
  });
}

void StoredLogs::finish(int64_t id, Result<StoredLogPart> result) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;  // its time was over
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  loop_.cancel(pending.timer);
  const bool is_of_storage = !result.is_ok() && result.status().code() != Code::not_found;
  if (is_of_storage) ++stats_.reads_failed;
  pending.done(std::move(result));
}

void StoredLogs::sweep() {
  sweep_timer_.arm(options_.sweep_every, [this] { sweep(); });
  std::optional<std::set<AttemptKey>> live = live_();
  if (!live) return open_store();  // How it is concerns a standby, too.
  sweeps_.post([shared = shared_, live = std::move(*live), rules = options_.rules,
                now = loop_.wall_now(),
                bound = scope_.bind([this](const Result<SweepResult>& result) {
                  swept(result);
                })]() -> SideThread::Answer {
    const auto is_live = [&live](const RankKey& key) {
      return live.contains({key.job, key.attempt});
    };
    const Result<LogStore> store = shared->open();
    const Result<SweepResult> result =
        store.is_ok() ? sweep_logs(store.value(), rules, now, is_live) : store.status();
    return [bound, result] { bound(result); };
  });
}

void StoredLogs::swept(const Result<SweepResult>& result) {
  note(result.status());
  if (!result.is_ok()) return;
  const SweepResult& swept = result.value();
  stats_.kept.logs = swept.logs;
  stats_.kept.bytes = swept.bytes;
  stats_.kept.logs_deleted += swept.logs_deleted;
  stats_.kept.bytes_deleted += swept.bytes_deleted;
  if (swept.logs_deleted == 0) return;
  log_info("stored_logs_deleted", {{"logs", swept.logs_deleted},
                                   {"bytes", swept.bytes_deleted},
                                   {"logs_left", swept.logs},
                                   {"bytes_left", swept.bytes}});
}

// Said once when it changes, not with each look.
void StoredLogs::note(const Status& status) {
  stats_.is_failing = !status.is_ok();
  if (status == noted_) return;
  noted_ = status;
  if (status.is_ok()) {
    log_info("log_store_usable_again", {{"store", options_.path}});
  } else {
    log_warning("log_store_fails", {{"reason", status}});
  }
}

}  // namespace hai
