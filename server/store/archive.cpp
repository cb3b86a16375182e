#include "server/store/archive.h"

#include <filesystem>
#include <optional>
#include <set>

#include "server/store/archive_files.h"
#include "server/store/archive_part.h"
#include "server/store/archive_steps.h"
#include "server/store/archive_table.h"
#include "server/store/audit_archive.h"
#include "server/store/audit_parts.h"
#include "server/store/hour_queries.h"
#include "server/store/pg_event_log.h"

namespace hai {
namespace {

class Archiver {
 public:
  Archiver(PgSession& session, const ArchiveOptions& options)
      : session_(session), options_(options), audit_(session, options, steps_) {}

  Result<ArchiveResult> run() {
    if (!lock_archive(session_)) {
      return failed_precondition("another archive of this database is under way");
    }
    Status audit;
    if (!options_.dry_run) {
      count_all_events(session_);  // what is deleted can't be counted any more
      RETURN_IF_ERROR(sync_folder(options_.dir));
      audit = audit_.complete_earlier();
    }
    // Neither waits for the other to be whole.
    const Status events = archive_events();
    // A failure of PostgreSQL has ended the session, and the lock with it.
    if (!events.is_ok() && !lock_archive(session_)) return events;
    if (audit.is_ok()) audit = audit_.run(result_);
    if (events.is_ok() && audit.is_ok()) return result_;
    if (events.is_ok() || audit.is_ok()) return events.is_ok() ? audit : events;
    return Status(events.code(),
                  fmt::format("{}; and the audit log: {}", events.message(), audit.message()));
  }

 private:
  Status archive_events() {
    try {
      if (!options_.dry_run) {
        RETURN_IF_ERROR(complete_earlier());
        remove_leftovers();
      }
      const EventRange range = event_range(session_);
      const int64_t last = last_old_enough(range);
      while (next_ <= last) RETURN_IF_ERROR(archive_part(range, last));
      return ok();
    } catch (const PgError& error) {
      return unavailable("postgres: {}", error.what());
    }
  }

  // The end of the beginning that is all old: clocks of two leaders may differ, so that one younger
  // event may stand among older ones.
  int64_t last_old_enough(const EventRange& range) {
    next_ = range.first;
    if (range.last == 0) return -1;
    const int64_t newest = range.last - options_.keep_events;
    return std::min(newest, last_event_before(session_, options_.older_than, range.last));
  }

  Status archive_part(const EventRange& range, int64_t last) {
    const int64_t part_last = std::min(last, next_ + options_.part_events - 1);
    if (result_.first_seq == 0) result_.first_seq = next_;
    if (options_.dry_run) {
      result_.events += part_last - next_ + 1;
      result_.jobs += jobs_ended_in(session_, next_, part_last);
      result_.last_seq = part_last;
      result_.files += 2;
      next_ = part_last + 1;
      return ok();
    }
    Result<ArchivePart> written =
        write_part(session_, {options_.cluster, options_.dir, next_, part_last});
    if (!written.is_ok()) return written.status();
    const ArchivePart& part = written.value();
    steps_.step("written");
    record_files(session_, {part.events, part.jobs});
    steps_.step("recorded");
    RETURN_IF_ERROR(steps_.name_files({part.events, part.jobs}));
    delete_rows(part.events, part.job_ids);
    result_.events += part_last - next_ + 1;
    result_.jobs += std::ssize(part.job_ids);
    result_.last_seq = part_last;
    result_.files += 2;
    next_ = part_last + 1;
    if (options_.progress) options_.progress(next_ - range.first, last - range.first + 1);
    return ok();
  }

  // Jobs first: as long as events of the part are there, a later run looks at it again.
  void delete_rows(const ArchivedFile& events, const std::vector<JobId>& jobs) {
    const size_t page = static_cast<size_t>(options_.rows_per_delete);
    for (size_t at = 0; at < jobs.size(); at += page) {
      const std::span<const JobId> ids(jobs);
      steps_.gently(
          [&] { delete_jobs(session_, ids.subspan(at, std::min(page, jobs.size() - at))); });
    }
    for (int64_t seq = events.first_seq; seq <= events.last_seq; seq += options_.rows_per_delete) {
      const int64_t end = std::min(events.last_seq, seq + options_.rows_per_delete - 1);
      steps_.gently([&] { delete_events(session_, seq, end); });
    }
  }

  // Parts that are recorded, but whose rows are not all gone.
  Status complete_earlier() {
    const EventRange range = event_range(session_);
    if (range.last == 0) return ok();
    const std::vector<ArchivedFile> files = recorded_since(session_, range.first);
    if (files.empty()) return ok();
    result_.completed_earlier = true;
    RETURN_IF_ERROR(steps_.name_files(files));
    for (const ArchivedFile& events : files) {
      if (events.has_jobs) continue;
      std::vector<JobId> ids;
      for (const ArchivedFile& jobs : files) {
        if (!jobs.has_jobs || jobs.first_seq != events.first_seq) continue;
        Result<std::vector<JobId>> read = job_ids_of(final_path(options_.dir, jobs));
        if (!read.is_ok()) return read.status();
        ids = std::move(read).value();
      }
      delete_rows(events, ids);
    }
    return ok();
  }

  // Of runs that died before they had recorded anything: their rows are all there. A recorded part
  // of the audit log is kept, whatever it is called: its rows are gone.
  void remove_leftovers() {
    std::set<std::string> recorded;
    for (const AuditPart& part : audit_parts(session_)) recorded.insert(part.file.name);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(options_.dir, error)) {
      const std::string name = entry.path().filename().string();
      const std::optional<std::string> whole = name_of_partial(options_.cluster, name);
      if (whole && !recorded.contains(*whole)) std::filesystem::remove(entry.path(), error);
    }
  }

  PgSession& session_;
  const ArchiveOptions& options_;
  const ArchiveSteps steps_{options_};
  const AuditArchiver audit_;
  ArchiveResult result_;
  int64_t next_ = 0;  // the first event that is not archived
};

}  // namespace

Result<ArchiveResult> archive_ledger(const std::string& conninfo, const ArchiveOptions& options) {
  PgSession session({.conninfo = conninfo, .statement_timeout = 5min, .plan_cache_mode = "auto"});
  try {
    return Archiver(session, options).run();
  } catch (const PgError& error) {
    return unavailable("postgres: {}", error.what());
  }
}

}  // namespace hai
