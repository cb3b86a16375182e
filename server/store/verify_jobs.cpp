#include "server/store/verify_jobs.h"

#include "server/store/pg_array.h"
#include "server/store/pg_rows.h"

namespace hai {
namespace {

const PgStatement& verified_jobs_statement() {
  static const std::string sql =
      fmt::format("SELECT {}, {} FROM job WHERE id = ANY($1::bigint[]) ORDER BY id",
                  select_list<JobRow>(), copies_list<JobRow>());
  static const PgStatement statement{"verify_jobs", sql.c_str()};
  return statement;
}
const PgStatement& verified_attempts_statement() {
  static const std::string sql = fmt::format(
      "SELECT {} FROM unnest($1::bigint[], $2::integer[]) AS k(job, number)"
      " JOIN attempt a ON a.job = k.job AND a.number = k.number",
      select_list<AttemptRow>());
  static const PgStatement statement{"verify_attempts", sql.c_str()};
  return statement;
}

const PgStatement& verified_ranks_statement() {
  static const std::string sql = fmt::format(
      "SELECT {} FROM unnest($1::bigint[], $2::integer[]) AS k(job, number)"
      " JOIN rank r ON r.job = k.job AND r.attempt = k.number ORDER BY r.job, r.attempt, r.rank",
      select_list<RankRow>());
  static const PgStatement statement{"verify_ranks", sql.c_str()};
  return statement;
}

std::string words(const AttemptKey& key) {
  return fmt::format("attempt {}.{}", key.first.value, key.second);
}

}  // namespace

std::map<AttemptKey, Attempt> load_attempts_of(PgSession& session,
                                               const std::vector<AttemptKey>& keys) {
  std::map<AttemptKey, Attempt> attempts;
  if (keys.empty()) return attempts;
  PgArray jobs;
  PgArray numbers;
  for (const auto& [job, number] : keys) jobs.add(job), numbers.add(number);
  const std::vector<std::string> params{jobs.take(), numbers.take()};
  PgResult rows = session.call(verified_attempts_statement(), params);
  for (AttemptRow& row : read_rows<AttemptRow>(rows)) {
    attempts.emplace(AttemptKey{row.job, row.attempt.number}, std::move(row.attempt));
  }
  for (RankRow& rank : read_rows<RankRow>(session.call(verified_ranks_statement(), params))) {
    const auto found = attempts.find({rank.job, rank.attempt});
    if (found != attempts.end()) add_rank(std::move(rank), found->second);
  }
  return attempts;
}

void JobCheck::add(Job job) {
  const JobId id = job.id;
  jobs_.insert_or_assign(id, std::move(job));
  if (jobs_.size() >= kPage) check_jobs();
}

void JobCheck::add(ReplacedAttempt replaced) {
  const AttemptKey key{replaced.job, replaced.attempt.number};
  attempts_.insert_or_assign(key, std::move(replaced.attempt));
  if (attempts_.size() >= kPage) check_attempts();
}

void JobCheck::finish(JobId last_job) {
  if (!jobs_.empty()) check_jobs();
  if (!attempts_.empty()) check_attempts();
  check_strays(last_job);
}

void JobCheck::count(const Attempt& attempt) {
  ++report_.attempts;
  report_.ranks += std::ssize(attempt.ranks);
}

void JobCheck::check_jobs() {
  PgArray ids;
  for (const auto& [id, job] : jobs_) ids.add(id);
  PgResult rows = session_.call(verified_jobs_statement(), {ids.take()});
  std::map<JobId, Job> found;
  std::vector<AttemptKey> keys;
  for (int row = 0; row < rows.size(); ++row) {
    JobRow read = read_row<JobRow>(rows, row);
    const JobId id = read.job.id;
    if (read.attempt > 0) keys.emplace_back(id, read.attempt);
    // What a search looks at must be what the spec says.
    if (wrong_copy(rows, row, JobRow{jobs_.at(id)})) {
      report_.differ(fmt::format("job {}: the row's columns differ from its spec", id.value));
    }
    found.emplace(id, std::move(read.job));
  }
  for (auto& [key, attempt] : load_attempts_of(session_, keys)) {
    found.at(key.first).attempt = std::move(attempt);
  }
  for (const auto& [id, job] : jobs_) {
    const auto row = found.find(id);
    check_job(job, row == found.end() ? nullptr : &row->second);
  }
  jobs_.clear();
}

void JobCheck::check_job(const Job& job, const Job* row) {
  ++report_.jobs;
  if (job.attempt) count(*job.attempt);
  if (row != nullptr) {
    if (!(job == *row)) {
      report_.differ(fmt::format("job {}: the row differs from the log", job.id.value));
    }
  } else if (!archived_.has(job.id)) {
    report_.differ(fmt::format("job {}: in the log, but there is no row", job.id.value));
  } else {
    ++report_.archived_jobs;
    if (archived_.holds(job)) return;
    report_.differ(fmt::format("job {}: the archive differs from the log", job.id.value));
  }
}

void JobCheck::check_attempts() {
  std::vector<AttemptKey> keys;
  for (const auto& [key, attempt] : attempts_) keys.push_back(key);
  const std::map<AttemptKey, Attempt> found = load_attempts_of(session_, keys);
  for (const auto& [key, attempt] : attempts_) {
    count(attempt);
    const auto row = found.find(key);
    if (row != found.end()) {
      if (!(attempt == row->second)) {
        report_.differ(words(key) + ": the row differs from the log");
      }
    } else if (!archived_.has(key.first)) {
      report_.differ(words(key) + ": in the log, but there is no row");
    } else if (!archived_.holds(key.first, attempt)) {
      report_.differ(words(key) + ": the archive differs from the log");
    }
  }
  attempts_.clear();
}

// All jobs up to the last have been looked for, and all attempts of each up to its latest.
void JobCheck::check_strays(JobId last_job) {
  PgResult rows = session_.run(fmt::format("SELECT id FROM job WHERE id > {} OR id < 1 LIMIT {}",
                                           last_job.value, kLedgerDifferencesMax));
  for (int row = 0; row < rows.size(); ++row) {
    report_.differ(fmt::format("job {}: a row, but not in the log", rows.integer(row, 0)));
  }
  rows = session_.run(
      fmt::format("SELECT a.job, a.number FROM attempt a LEFT JOIN job j ON j.id = a.job"
                  " WHERE j.id IS NULL OR a.number > j.attempt OR a.number < 1 LIMIT {}",
                  kLedgerDifferencesMax));
  for (int row = 0; row < rows.size(); ++row) {
    report_.differ(fmt::format("attempt {}.{}: a row, but not in the log", rows.integer(row, 0),
                               rows.integer(row, 1)));
  }
  rows = session_.run(
      fmt::format("SELECT r.job, r.attempt, r.rank FROM rank r LEFT JOIN attempt a"
                  " ON a.job = r.job AND a.number = r.attempt WHERE a.job IS NULL LIMIT {}",
                  kLedgerDifferencesMax));
  for (int row = 0; row < rows.size(); ++row) {
    report_.differ(fmt::format("rank {}.{}.{}: a row, but not in the log", rows.integer(row, 0),
                               rows.integer(row, 1), rows.integer(row, 2)));
  }
}

}  // namespace hai
