#include "server/store/archive_table.h"

#include "common/json/json_text.h"
#include "server/store/pg_array.h"

namespace hai {
namespace {

// Beside the one of migrate.cpp.
constexpr const char* kArchiveLock = "SELECT pg_try_advisory_lock(68656973, 2027)::integer";

constexpr PgStatement kRecordArchive{
    "archive_record",
    "INSERT INTO archive (id, first_seq, last_seq, jobs, file, sha256, archived_at)"
    " SELECT coalesce((SELECT max(id) FROM archive), 0) + f.number, f.first_seq, f.last_seq, "
    "f.jobs,"
    " f.file, f.sha256, now() FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[],"
    " $5::text[], $6::text[]) AS f(number, first_seq, last_seq, jobs, file, sha256)"};

constexpr PgStatement kDeleteJobs{
    "archive_delete_jobs",
    "WITH ids AS (SELECT unnest($1::bigint[]) AS id),"
    " ranks AS (DELETE FROM rank WHERE job IN (SELECT id FROM ids)),"
    " attempts AS (DELETE FROM attempt WHERE job IN (SELECT id FROM ids))"
    " DELETE FROM job WHERE id IN (SELECT id FROM ids)"
    " AND state IN ('succeeded', 'failed', 'stopped')"};

constexpr PgStatement kDeleteEvents{
    "archive_delete_events", "DELETE FROM event WHERE seq BETWEEN $1::bigint AND $2::bigint"};

}  // namespace

bool lock_archive(PgSession& session) { return session.run(kArchiveLock).integer(0, 0) == 1; }

int64_t last_event_before(PgSession& session, UnixTime time, int64_t last_seq) {
  std::string text;
  append_time(text, time);
  PgResult row = session.run(fmt::format(
      "SELECT coalesce(min(seq) - 1, {}) FROM event WHERE time >= '{}'", last_seq, text));
  return row.integer(0, 0);
}

int64_t jobs_ended_in(PgSession& session, int64_t first_seq, int64_t last_seq) {
  return session
      .run(fmt::format("SELECT count(*) FROM event WHERE seq BETWEEN {} AND {}"
                       " AND kind = 'job_finished'",
                       first_seq, last_seq))
      .integer(0, 0);
}

void record_files(PgSession& session, const std::vector<ArchivedFile>& files) {
  PgArray numbers, first, last, jobs, names, sums;
  int number = 0;
  for (const ArchivedFile& file : files) {
    numbers.add(++number);
    first.add(file.first_seq);
    last.add(file.last_seq);
    jobs.add(file.jobs);
    names.add(file.name);
    sums.add(file.sha256);
  }
  session.run("SET synchronous_commit = on");
  session.call(kRecordArchive,
               {numbers.take(), first.take(), last.take(), jobs.take(), names.take(), sums.take()});
  session.run("SET synchronous_commit = off");
}

std::vector<ArchivedFile> recorded_since(PgSession& session, int64_t seq) {
  PgResult rows =
      session.run(fmt::format("SELECT file, sha256, first_seq, last_seq, jobs FROM archive"
                              " WHERE last_seq >= {} ORDER BY first_seq, id",
                              seq));
  std::vector<ArchivedFile> files;
  for (int row = 0; row < rows.size(); ++row) {
    files.push_back({.name = std::string(rows.text(row, 0)),
                     .sha256 = std::string(rows.text(row, 1)),
                     .first_seq = rows.integer(row, 2),
                     .last_seq = rows.integer(row, 3),
                     .jobs = rows.integer(row, 4)});
    files.back().has_jobs = files.back().name.ends_with("-jobs.jsonl.gz");
  }
  return files;
}

void delete_jobs(PgSession& session, std::span<const JobId> ids) {
  PgArray array;
  for (JobId id : ids) array.add(id);
  session.call(kDeleteJobs, {array.take()});
}

void delete_events(PgSession& session, int64_t first_seq, int64_t last_seq) {
  session.call(kDeleteEvents, {std::to_string(first_seq), std::to_string(last_seq)});
}

}  // namespace hai
