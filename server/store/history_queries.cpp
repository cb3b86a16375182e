#include "server/store/history_queries.h"

#include <algorithm>

#include "server/store/pg_array.h"
#include "server/store/pg_filter.h"
#include "server/store/pg_load.h"
#include "server/store/pg_rows.h"

namespace hai {
namespace {

Status check_limit(int limit) {
  if (limit >= 1 && limit <= kHistoryPageMax) return ok();
  return invalid_argument("limit {}: must be 1 to {}", limit, kHistoryPageMax);
}

// Newest first, as `rows` are.
std::vector<Job> jobs_of(PgSession& session, const PgResult& rows) {
  std::vector<Job> jobs;
  std::vector<int> numbers;
  for (int row = rows.size() - 1; row >= 0; --row) {
    JobRow read = read_row<JobRow>(rows, row);
    jobs.push_back(std::move(read.job));
    numbers.push_back(read.attempt);
  }
  load_attempts(session, jobs, numbers);
  std::ranges::reverse(jobs);
  return jobs;
}

std::string state_array(const std::vector<JobState>& states) {
  PgArray array;
  for (JobState state : states) array.add(state);
  return array.take();
}

// Jobs are numbered without gaps, so that one below the newest can only be missing because it was
// archived.
Status missing_job(PgSession& session, JobId job) {
  PgResult newest = session.run("SELECT coalesce(max(id), 0) FROM job");
  if (job.value < 1 || job.value >= newest.integer(0, 0)) {
    return not_found("job {} does not exist", job.value);
  }
  return not_found("job {} is archived: its record is in the files of hai-server archive",
                   job.value);
}

// Parameters are text: what PostgreSQL would refuse as such can match nothing.
std::string text_parameter(const std::string& text) { return clean_utf8(text); }

}  // namespace

Result<std::vector<Job>> find_jobs(PgSession& session, const JobQuery& query) {
  RETURN_IF_ERROR(check_limit(query.limit));
  PgFilter filter("jobs");
  if (!query.states.empty()) filter.add("state = ANY($::text[])", state_array(query.states));
  if (!query.user.empty()) filter.add("user_name = $", text_parameter(query.user));
  if (!query.group.empty()) filter.add("group_name = $", text_parameter(query.group));
  if (!query.name.empty()) filter.add("name = $", text_parameter(query.name));
  if (!query.tag.empty()) filter.add("$ = ANY(tags)", text_parameter(query.tag));
  if (query.ended_since) {
    filter.add("(ended_at IS NULL OR ended_at >= $::timestamptz)",
               format_rfc3339(*query.ended_since));
  }
  if (query.before) filter.add("id < $::bigint", std::to_string(query.before.value));
  if (query.down_to) filter.add("id >= $::bigint", std::to_string(query.down_to.value));
  PgSnapshot snapshot(session);
  std::vector<Job> jobs = jobs_of(
      session, filter.select(session, select_list<JobRow>(), "job", "id DESC", query.limit));
  snapshot.end();
  return jobs;
}

// Its user and name are those of its array, by which it is found quickly.
static Result<Job> find_task(PgSession& session, const ArrayTask& task) {
  const Result<Job> array = find_job(session, {.job = task.array});
  if (!array.is_ok()) return array.status();
  PgFilter filter("task");
  filter.add("user_name = $", array.value().user);
  filter.add(kBeginOfName, array.value().spec->name);
  filter.add("id > $::bigint", std::to_string(task.array.value));
  filter.add("rest -> 'array_task' ->> 'array' = $", std::to_string(task.array.value));
  filter.add("rest -> 'array_task' ->> 'index' = $", std::to_string(task.index));
  PgSnapshot snapshot(session);
  std::vector<Job> jobs =
      jobs_of(session, filter.select(session, select_list<JobRow>(), "job", "id DESC", 1));
  snapshot.end();
  if (!jobs.empty()) return std::move(jobs.front());
  return not_found("array {} has no task {}", task.array.value, task.index);
}

Result<Job> find_job(PgSession& session, const JobKey& key) {
  if (key.task) {
    Result<Job> task = find_task(session, *key.task);
    if (task.is_ok() || task.status().code() != Code::not_found) return task;
  }
  if (!key.job && (key.user.empty() || key.name.empty())) {
    return invalid_argument("a job is named by its id, or by user and name");
  }
  PgFilter filter("job");
  if (key.job) {
    filter.add("id = $::bigint", std::to_string(key.job.value));
  } else {
    filter.add("user_name = $", text_parameter(key.user));
    filter.add(kBeginOfName, text_parameter(key.name));
    filter.add("name = $", text_parameter(key.name));
  }
  PgSnapshot snapshot(session);
  std::vector<Job> jobs =
      jobs_of(session, filter.select(session, select_list<JobRow>(), "job", "id DESC", 1));
  snapshot.end();
  if (!jobs.empty()) {
    // The tasks of an array have its name, and are newer.
    const std::optional<ArrayTask>& task = jobs.front().array_task;
    if (!key.job && task) return find_job(session, {.job = task->array});
    return std::move(jobs.front());
  }
  if (key.job) return missing_job(session, key.job);
  return not_found("job {} of {}", key.name, key.user);
}

std::vector<Attempt> find_attempts_in(PgSession& session, JobId job) {
  const std::string id = std::to_string(job.value);
  PgFilter filter("attempts");
  filter.add("a.job = $::bigint", id);
  PgResult rows = filter.select(session, select_list<AttemptRow>(), "attempt a", "a.number DESC",
                                kHistoryPageMax);
  std::vector<Attempt> attempts;
  for (int row = rows.size() - 1; row >= 0; --row) {
    attempts.push_back(read_row<AttemptRow>(rows, row).attempt);
  }
  if (!attempts.empty()) {
    static const std::string sql = fmt::format(
        "SELECT {} FROM rank r WHERE r.job = $1::bigint AND r.attempt >= $2::integer"
        " ORDER BY r.attempt, r.rank",
        select_list<RankRow>());
    const int first = attempts.front().number;
    PgResult ranks = session.call({"ranks_of_job", sql.c_str()}, {id, std::to_string(first)});
    for (RankRow& rank : read_rows<RankRow>(ranks)) {
      auto it = std::ranges::lower_bound(attempts, rank.attempt, {}, &Attempt::number);
      if (it != attempts.end() && it->number == rank.attempt) add_rank(std::move(rank), *it);
    }
  }
  return attempts;
}

Result<std::vector<Attempt>> find_attempts(PgSession& session, JobId job) {
  PgSnapshot snapshot(session);
  std::vector<Attempt> attempts = find_attempts_in(session, job);
  snapshot.end();
  return attempts;
}

Result<std::vector<Event>> find_events(PgSession& session, const EventQuery& query) {
  RETURN_IF_ERROR(check_limit(query.limit));
  if (query.job && query.node) return invalid_argument("events of a job or of a node, not of both");
  PgFilter filter("events");
  if (query.job) filter.add("subject = $", row_subject(query.job));
  if (query.node) filter.add("subject = $", row_subject(query.node));
  if (!query.kinds.empty()) {
    PgArray kinds;
    for (const std::string& kind : query.kinds) kinds.add(text_parameter(kind));
    filter.add("kind = ANY($::text[])", kinds.take());
  }
  if (query.after_seq) filter.add("seq > $::bigint", std::to_string(*query.after_seq));
  if (query.before_seq) filter.add("seq < $::bigint", std::to_string(*query.before_seq));
  PgResult rows = filter.select(session, select_list<Event>(), "event",
                                query.after_seq ? "seq" : "seq DESC", query.limit);
  return read_rows<Event>(rows);
}

Result<std::vector<Incident>> find_closed_incidents(PgSession& session,
                                                    const IncidentQuery& query) {
  RETURN_IF_ERROR(check_limit(query.limit));
  PgFilter filter("incidents");
  filter.add("(closed_at IS NOT NULL) = $::boolean", "true");
  if (query.before) filter.add("id < $::bigint", std::to_string(query.before.value));
  return read_rows<Incident>(
      filter.select(session, select_list<Incident>(), "incident", "id DESC", query.limit));
}

}  // namespace hai
