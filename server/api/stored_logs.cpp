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
                 note_sweep(status);
               })]() -> SideThread::Answer {
    const Status status = shared->open().status();
    return [bound, status] { bound(status); };
  });
}

void StoredLogs::read(const StoredLogRequest& request, Done<StoredLogPart> done) {
  const int64_t id = ++last_id_;
  Pending& pending = pending_[id];
  pending.done = std::move(done);
  pending.is_over = std::make_shared<std::atomic<bool>>(false);
  ++stats_.reads;
  const bool is_taken =
      reads_.post([shared = shared_, request, is_over = pending.is_over,
                   bound = scope_.bind([this, id](const Result<StoredLogPart>& result) {
                     finish(id, result);
                   })]() -> SideThread::Answer {
        if (*is_over) return [] {};
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
    finish(id, deadline_exceeded("log store {}: does not answer", options_.path));
  });
}

void StoredLogs::finish(int64_t id, Result<StoredLogPart> result) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;  // its time was over
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  loop_.cancel(pending.timer);
  *pending.is_over = true;
  const Code code = result.is_ok() ? Code::ok : result.status().code();
  if (code != Code::resource_exhausted) {  // else the storage was not asked
    const bool is_usable = code == Code::ok || code == Code::not_found;
    if (!is_usable) ++stats_.reads_failed;
    note_read(is_usable ? ok() : result.status());
  }
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
  note_sweep(result.status());
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

void StoredLogs::note_read(const Status& status) { note(noted_of_reads_, status); }

// One that works has used all that a read uses; a read that works says nothing of sweeps.
void StoredLogs::note_sweep(const Status& status) {
  if (status.is_ok()) note(noted_of_reads_, status);
  note(noted_of_sweeps_, status);
}

// Said once when it changes, not with each look.
void StoredLogs::note(Status& noted, const Status& status) {
  const bool was_failing = stats_.is_failing;
  const bool is_news = !(status == noted);
  noted = status;
  stats_.is_failing = !noted_of_reads_.is_ok() || !noted_of_sweeps_.is_ok();
  if (was_failing && !stats_.is_failing)
    log_info("log_store_usable_again", {{"store", options_.path}});
  if (is_news && !status.is_ok()) log_warning("log_store_fails", {{"reason", status}});
}

}  // namespace hai
