#include "server/store/pg_append.h"

#include <algorithm>
#include <set>

#include "server/store/leader_lease.h"
#include "server/store/pg_row_writer.h"

namespace hai {

using JobToWrite = JobRowOf<const Job&>;

struct PgAppender::Rows {
  std::vector<JobToWrite> submitted;
  std::vector<JobToWrite> changed;
  std::vector<JobToWrite> edited;  // of the changed ones: also what mostly never changes
  std::vector<AttemptRowOf<const Attempt&>> attempts;
  std::vector<RankRowOf<const Rank&>> ranks;
};

namespace {

// Above it the memory of what was written starts anew; a live cluster has one entry per live job.
constexpr size_t kWrittenMax = 50'000;
// Names are in indexes, whose entries PostgreSQL bounds.
constexpr size_t kKeyBytesMax = 256;

// Which kinds of rows a batch has: a statement that names fewer tables starts faster, which counts
// when many small batches follow each other.
struct Parts {
  bool submitted = false;
  bool changed = false;
};

// $1 epoch, $2 last_seq before or -1, $3 last_seq after, $4 epoch started or 0, $5 lease in
// microseconds, $6 the holder's process; then events, new jobs, changed jobs. A failed guard writes
// nothing: every part joins with it. A changed job without a row fails the cast, and with it the
// whole statement.
std::string append_sql(Parts parts) {
  int param = 7;
  std::string sql =
      "WITH guard AS (UPDATE cluster_epoch SET last_seq = greatest(last_seq, $3::bigint),"
      " started_epoch = greatest(started_epoch, $4::bigint), expires_at = " +
      extended_end_sql(5) +
      " WHERE epoch = $1::bigint AND holder_process = $6"
      " AND ($2::bigint < 0 OR last_seq = $2::bigint)"
      " RETURNING 1 AS one)";
  const PgTable& events = table_of<Event>();
  sql += fmt::format(", events AS ({})", insert_sql(events, param, "guard, "));
  param += static_cast<int>(events.columns.size());
  if (parts.submitted) {
    const PgTable& jobs = table_of<JobRowOf<Job>>();
    sql += fmt::format(", jobs AS ({})", insert_sql(jobs, param, "guard, "));
    param += static_cast<int>(jobs.columns.size());
  }
  if (!parts.changed) return sql + " SELECT count(*) FROM guard";
  const PgTable changes = table_of<JobRowOf<Job>>().changeable();
  return sql + fmt::format(
                   ", changes AS ({} RETURNING 1 AS one),"
                   " counts AS (SELECT (SELECT count(*) FROM guard) AS led,"
                   " (SELECT count(*) FROM changes) AS changed)"
                   " SELECT led, CASE WHEN led = 1 AND changed <> cardinality(${}::bigint[])"
                   " THEN ('only ' || changed || ' of the changed jobs have rows')::integer"
                   " ELSE 0 END FROM counts",
                   update_sql(changes, param, "guard, "), param);
}

const PgStatement& append_statement(Parts parts) {
  static const std::string sql[] = {append_sql({false, false}), append_sql({false, true}),
                                    append_sql({true, false}), append_sql({true, true})};
  static const PgStatement statements[] = {{"append_events", sql[0].c_str()},
                                           {"append_changes", sql[1].c_str()},
                                           {"append_submits", sql[2].c_str()},
                                           {"append_both", sql[3].c_str()}};
  return statements[(parts.submitted ? 2 : 0) + (parts.changed ? 1 : 0)];
}

// `Row` as it is read, `rows` as they are written.
template <typename Row, typename Written>
void upsert(PgSession& session, const std::vector<Written>& rows) {
  static const std::string name = fmt::format("upsert_{}", table_of<Row>().names.name);
  static const std::string sql = upsert_sql(table_of<Row>(), 1);
  if (rows.empty()) return;
  std::vector<std::string> params;
  add_params(rows, params);
  session.call({name.c_str(), sql.c_str()}, params);
}

// Every column, also those that are fixed for all others.
void rewrite(PgSession& session, const std::vector<JobToWrite>& jobs) {
  static const std::string sql = update_sql(table_of<JobRowOf<Job>>(), 1);
  if (jobs.empty()) return;
  std::vector<std::string> params;
  add_params(jobs, params);
  session.call({"rewrite_jobs", sql.c_str()}, params);
}

// By their keys.
template <typename Row>
void remove(PgSession& session, const std::vector<Row>& rows) {
  static const std::string name = fmt::format("delete_{}", table_of<Row>().names.name);
  static const std::string sql = delete_sql(table_of<Row>(), 1);
  if (rows.empty()) return;
  std::vector<std::string> params;
  add_params(rows, params);
  params.resize(table_of<Row>().names.keys);
  session.call({name.c_str(), sql.c_str()}, params);
}

// Of a table whose key is one text.
template <typename Row>
void remove_keys(PgSession& session, const std::vector<std::string>& keys) {
  if (keys.empty()) return;
  static const std::string name = fmt::format("delete_{}", table_of<Row>().names.name);
  static const std::string sql = delete_sql(table_of<Row>(), 1);
  PgArray array;
  for (const std::string& key : keys) array.add(key);
  session.call({name.c_str(), sql.c_str()}, {array.take()});
}

Status check_key(const char* what, std::string_view key) {
  if (key.size() <= kKeyBytesMax) return ok();
  return invalid_argument("{} '{}…': {} bytes, at most {}", what, key.substr(0, 32), key.size(),
                          kKeyBytesMax);
}

Status check_keys(const AppendBatch& batch) {
  for (const Job& job : batch.jobs) RETURN_IF_ERROR(check_key("user", job.user));
  for (const User& user : batch.users) RETURN_IF_ERROR(check_key("user", user.name));
  for (const Quota& quota : batch.quotas) {
    RETURN_IF_ERROR(check_key("owner", quota.owner));
    RETURN_IF_ERROR(check_key("group", quota.group));
  }
  for (const Token& token : batch.tokens) {
    RETURN_IF_ERROR(check_key("token hash", token.hash));
    RETURN_IF_ERROR(check_key("user", token.user));
  }
  for (const Secret& secret : batch.secrets) {
    RETURN_IF_ERROR(check_key("user", secret.user));
    RETURN_IF_ERROR(check_key("secret", secret.name));
  }
  for (const NodeIdentity& identity : batch.identities) {
    RETURN_IF_ERROR(check_key("node", identity.node));
  }
  return ok();
}

std::vector<std::string> guard_params(const AppendBatch& batch, const LeaderLease& lease) {
  int64_t before = -1;
  int64_t after = 0;
  int64_t started = 0;
  if (!batch.events.empty()) {
    before = batch.events.front().seq - 1;
    after = batch.events.back().seq;
  }
  for (const Event& event : batch.events) {
    if (const auto* body = std::get_if<EpochStarted>(&event.body)) started = body->epoch.value;
  }
  return {std::to_string(batch.epoch.value),
          std::to_string(before),
          std::to_string(after),
          std::to_string(started),
          std::to_string(lease.length().count()),
          lease.process()};
}

// Why the guard found no row.
Status refused(PgSession& session, const AppendBatch& batch, const LeaderLease& lease) {
  PgResult row = session.call(
      {"append_refused",
       "SELECT last_seq FROM cluster_epoch WHERE epoch = $1::bigint AND holder_process = $2"},
      {std::to_string(batch.epoch.value), lease.process()});
  if (row.size() == 0) return lost_lease(session, batch.epoch);
  return unavailable("the event log ends at {}, the batch starts at {}: reload", row.integer(0, 0),
                     batch.events.front().seq);
}

}  // namespace

PgAppender::Rows PgAppender::rows_of(const AppendBatch& batch) const {
  Rows rows;
  std::set<JobId> submitted;
  std::set<JobId> edited;
  for (const Event& event : batch.events) {
    if (const auto* body = std::get_if<JobSubmitted>(&event.body)) submitted.insert(body->job);
    if (const auto* body = std::get_if<JobEdited>(&event.body)) edited.insert(body->job);
  }
  for (const ReplacedAttempt& replaced : batch.replaced_attempts) {
    add_attempt(replaced.job, replaced.attempt, rows);
  }
  for (const Job& job : batch.jobs) {
    (submitted.contains(job.id) ? rows.submitted : rows.changed)
        .push_back({job, job.attempt_number()});
    if (edited.contains(job.id) && !submitted.contains(job.id)) {
      rows.edited.push_back({job, job.attempt_number()});
    }
    if (job.attempt) add_attempt(job.id, *job.attempt, rows);
  }
  return rows;
}

void PgAppender::add_attempt(JobId job, const Attempt& attempt, Rows& rows) const {
  const auto found = written_.find(job);
  const Attempt* old = found == written_.end() ? nullptr : &found->second;
  if (old != nullptr && *old == attempt) return;
  const bool same_try =
      old != nullptr && old->number == attempt.number && old->ranks.size() == attempt.ranks.size();
  rows.attempts.push_back({job, attempt});
  for (size_t i = 0; i < attempt.ranks.size(); ++i) {
    const Rank& rank = attempt.ranks[i];
    if (same_try && old->ranks[i] == rank) continue;
    rows.ranks.push_back({job, attempt.number, static_cast<int>(i), rank});
  }
}

void PgAppender::write_others(PgSession& session, const AppendBatch& batch, const Rows& rows) {
  rewrite(session, rows.edited);
  upsert<AttemptRowOf<Attempt>>(session, rows.attempts);
  upsert<RankRowOf<Rank>>(session, rows.ranks);
  upsert<Node>(session, batch.nodes);
  remove_keys<User>(session, batch.removed_users);
  upsert<User>(session, batch.users);
  remove(session, batch.removed_quotas);
  upsert<Quota>(session, batch.quotas);
  remove_keys<Token>(session, batch.removed_tokens);
  upsert<Token>(session, batch.tokens);
  remove(session, batch.removed_secrets);
  upsert<Secret>(session, batch.secrets);
  upsert<NodeIdentity>(session, batch.identities);
  remove_keys<KnobSetting>(session, batch.removed_knobs);
  upsert<KnobSetting>(session, batch.knobs);
  upsert<Incident>(session, batch.incidents);
}

void PgAppender::remember(const AppendBatch& batch) {
  if (written_.size() > kWrittenMax) written_.clear();
  for (const Job& job : batch.jobs) {
    if (job.is_terminal()) {
      written_.erase(job.id);
    } else if (job.attempt) {
      written_.insert_or_assign(job.id, *job.attempt);
    }
  }
}

Status PgAppender::append(PgSession& session, const AppendBatch& batch, const LeaderLease& lease) {
  RETURN_IF_ERROR(check_keys(batch));
  const Rows rows = rows_of(batch);
  std::vector<std::string> params = guard_params(batch, lease);
  const Parts parts{.submitted = !rows.submitted.empty(), .changed = !rows.changed.empty()};
  add_params(batch.events, params);
  if (parts.submitted) add_params(rows.submitted, params);
  if (parts.changed) add_params(rows.changed, params, /*with_fixed=*/false);
  // The one statement is a transaction by itself.
  const bool alone =
      rows.attempts.empty() && rows.edited.empty() && batch.nodes.empty() && batch.users.empty() &&
      batch.removed_users.empty() && batch.removed_quotas.empty() && batch.quotas.empty() &&
      batch.removed_tokens.empty() && batch.tokens.empty() && batch.removed_secrets.empty() &&
      batch.secrets.empty() && batch.identities.empty() && batch.removed_knobs.empty() &&
      batch.knobs.empty() && batch.incidents.empty();
  try {
    if (!alone) session.run("BEGIN");
    if (session.call(append_statement(parts), params).integer(0, 0) == 0) {
      if (!alone) session.run("ROLLBACK");
      return refused(session, batch, lease);
    }
    if (!alone) {
      write_others(session, batch, rows);
      session.run("COMMIT");
    }
  } catch (const PgError&) {
    written_.clear();
    throw;
  }
  remember(batch);
  return ok();
}

}  // namespace hai
