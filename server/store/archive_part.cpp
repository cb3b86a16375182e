#include "server/store/archive_part.h"

#include <algorithm>
#include <map>

#include "server/store/archive_files.h"
#include "server/store/event_line.h"
#include "server/store/event_log.h"
#include "server/store/pg_array.h"
#include "server/store/pg_event_log.h"
#include "server/store/pg_rows.h"
#include "server/store/verify_jobs.h"

namespace hai {
namespace {

constexpr size_t kJobsPage = 500;

const PgStatement& jobs_statement() {
  static const std::string sql = fmt::format(
      "SELECT {} FROM job WHERE id = ANY($1::bigint[]) ORDER BY id", select_list<JobRow>());
  static const PgStatement statement{"archive_jobs", sql.c_str()};
  return statement;
}

// When each job ended last in these events.
using EndedJobs = std::map<JobId, UnixTime>;

Status write_events(PgSession& session, const PartRequest& request, const ArchivePart& part,
                    EndedJobs& ended) {
  const ArchivedFile& file = part.events;
  auto writer = LineWriter::create(partial_path(request.dir, file), /*replace=*/true);
  if (!writer.is_ok()) return writer.status();
  PgEventLog log(session, file.first_seq - 1, file.last_seq);
  for (int64_t seq = file.first_seq; seq <= file.last_seq;) {
    Result<std::vector<Event>> page = log.next_page();
    if (!page.is_ok()) return page.status();
    if (page.value().empty()) return data_loss(fmt::format("event {} is not there", seq));
    for (const Event& event : page.value()) {
      RETURN_IF_ERROR(writer.value()->write(event_line(event)));
      if (std::holds_alternative<JobFinished>(event.body)) ended[job_of(event.body)] = event.time;
      seq = event.seq + 1;
    }
  }
  // The newest job's row stays: a server that loads its state counts on from its number.
  PgResult newest = session.run("SELECT coalesce(max(id), 0) FROM job");
  ended.erase(JobId{newest.integer(0, 0)});
  return writer.value()->finish();
}

std::vector<ArchivedJob> load_archived_jobs(PgSession& session, std::span<const JobId> ids) {
  PgArray array;
  for (JobId id : ids) array.add(id);
  PgResult rows = session.call(jobs_statement(), {array.take()});
  std::vector<ArchivedJob> jobs;
  std::vector<AttemptKey> keys;
  for (JobRow& row : read_rows<JobRow>(rows)) {
    for (int number = 1; number <= row.attempt; ++number) keys.emplace_back(row.job.id, number);
    jobs.push_back({std::move(row.job), {}});
  }
  auto found = jobs.begin();
  for (auto& [key, attempt] : load_attempts_of(session, keys)) {  // by job, then number
    while (found->job.id != key.first) ++found;
    if (found->job.attempt) found->earlier.push_back(std::move(*found->job.attempt));
    found->job.attempt = std::move(attempt);
  }
  return jobs;
}

// A job that was opened again since, because its node was to blame, lives, or ended later: it goes
// with the part that holds its last end.
Status write_jobs(PgSession& session, const PartRequest& request, const EndedJobs& ended,
                  ArchivePart& part) {
  auto writer = LineWriter::create(partial_path(request.dir, part.jobs), /*replace=*/true);
  if (!writer.is_ok()) return writer.status();
  std::vector<JobId> all;
  for (const auto& [id, time] : ended) all.push_back(id);
  const std::span<const JobId> ids(all);
  for (size_t at = 0; at < ids.size(); at += kJobsPage) {
    const auto page = ids.subspan(at, std::min(kJobsPage, ids.size() - at));
    const std::vector<ArchivedJob> jobs = load_archived_jobs(session, page);
    if (jobs.size() != page.size()) {
      return data_loss(fmt::format("{} jobs ended in events {} to {}, but only {} have rows",
                                   page.size(), part.events.first_seq, part.events.last_seq,
                                   jobs.size()));
    }
    for (const ArchivedJob& job : jobs) {
      if (!job.job.is_terminal() || job.job.ended_at != ended.at(job.job.id)) continue;
      for (const std::string& line : job_lines(job)) {
        RETURN_IF_ERROR(writer.value()->write(line));
      }
      part.job_ids.push_back(job.job.id);
    }
  }
  part.jobs.jobs = std::ssize(part.job_ids);
  return writer.value()->finish();
}

Status count_events(const std::string& path, const ArchivedFile& file) {
  FileEventLog log({path});
  int64_t next = file.first_seq;
  while (true) {
    Result<std::vector<Event>> page = log.next_page();
    if (!page.is_ok()) return page.status();
    if (page.value().empty()) break;
    if (page.value().front().seq != next) return data_loss(path + ": other events than written");
    next = page.value().back().seq + 1;
  }
  if (next == file.last_seq + 1) return ok();
  return data_loss(fmt::format("{}: ends before event {}", path, file.last_seq));
}

// What is on the disk now, read as whoever needs it one day will.
Status read_again(const std::string& dir, ArchivedFile& file) {
  const std::string path = partial_path(dir, file);
  if (!file.has_jobs) {
    RETURN_IF_ERROR(count_events(path, file));
  } else {
    Result<std::vector<JobId>> ids = job_ids_of(path);
    if (!ids.is_ok()) return ids.status();
    if (std::ssize(ids.value()) != file.jobs) return data_loss(path + ": other jobs than written");
  }
  Result<std::string> sum = sha256_of_file(path);
  if (!sum.is_ok()) return sum.status();
  file.sha256 = std::move(sum).value();
  return ok();
}

}  // namespace

std::string final_path(const std::string& dir, const ArchivedFile& file) {
  return dir + "/" + file.name;
}

std::string partial_path(const std::string& dir, const ArchivedFile& file) {
  return final_path(dir, file) + std::string(kPartialSuffix);
}

Result<ArchivePart> write_part(PgSession& session, const PartRequest& request) {
  ArchivePart part;
  part.events.first_seq = request.first_seq;
  part.events.last_seq = request.last_seq;
  part.events.name = events_file_name(request.cluster, request.first_seq, request.last_seq);
  EndedJobs ended;
  RETURN_IF_ERROR(write_events(session, request, part, ended));
  part.jobs.has_jobs = true;
  part.jobs.first_seq = part.events.first_seq;
  part.jobs.last_seq = part.events.last_seq;
  part.jobs.name = jobs_file_name(request.cluster, part.events.first_seq, part.events.last_seq);
  RETURN_IF_ERROR(write_jobs(session, request, ended, part));
  RETURN_IF_ERROR(read_again(request.dir, part.events));
  RETURN_IF_ERROR(read_again(request.dir, part.jobs));
  return part;
}

Status check_file(const std::string& path, const ArchivedFile& file) {
  Result<std::string> sum = sha256_of_file(path);
  if (!sum.is_ok()) return sum.status();
  if (sum.value() == file.sha256) return ok();
  return data_loss(
      fmt::format("{}: its SHA-256 is {}, the database says {}", path, sum.value(), file.sha256));
}

Result<std::vector<JobId>> job_ids_of(const std::string& path) {
  std::vector<JobId> ids;
  RETURN_IF_ERROR(
      read_jobs(path, [&ids](const ArchivedJob& archived) { ids.push_back(archived.job.id); }));
  return ids;
}

}  // namespace hai
