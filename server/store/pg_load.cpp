#include "server/store/pg_load.h"

#include <algorithm>
#include <future>

#include "server/store/json_codec.h"
#include "server/store/pg_cells.h"
#include "server/store/pg_copy.h"
#include "server/store/pg_rows.h"

namespace hai {
namespace {

// Read on one thread while the next ones come.
constexpr size_t kPageBytes = 1 << 20;
constexpr size_t kRowBytesMin = 256;  // a guess, for reserving

// By the index on (state, id), whatever the size of the history.
std::string select_jobs(const std::vector<JobState>& states) {
  std::string list;
  for (JobState state : states) {
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", to_string(state));
  }
  return fmt::format("SELECT {} FROM job WHERE state IN ({})", kJobColumns, list);
}

const PgStatement& attempts_statement() {
  static const std::string sql = fmt::format(
      "SELECT {} FROM unnest($1::bigint[], $2::integer[]) AS k(job, number)"
      " JOIN attempt a ON a.job = k.job AND a.number = k.number",
      kAttemptColumns);
  static const PgStatement statement{"load_attempts", sql.c_str()};
  return statement;
}

const PgStatement& ranks_statement() {
  static const std::string sql = fmt::format(
      "SELECT {} FROM unnest($1::bigint[], $2::integer[]) AS k(job, number)"
      " JOIN rank r ON r.job = k.job AND r.attempt = k.number",
      kRankColumns);
  static const PgStatement statement{"load_ranks", sql.c_str()};
  return statement;
}

// Right after a burst of submits the planner's statistics are old: it would read whole tables. No
// statement of a load asks for an order that an index does not give for nothing: with sorting ruled
// out, as it once was, PostgreSQL walked all attempts and looked each up in the list. And a page on
// a slow disk may take longer than an append ever should.
void prepare_to_load(PgSession& session) {
  session.run("SET LOCAL enable_seqscan = off; SET LOCAL statement_timeout = '1min'");
}

Job* find(std::vector<Job>& jobs, JobId id) {
  auto it = std::ranges::lower_bound(jobs, id, {}, &Job::id);
  return it == jobs.end() || it->id != id ? nullptr : &*it;
}

// Reads one page's rows on another thread while the database prepares the next: each takes about
// half of the time of a restart.
class JobPages {
 public:
  void add(std::string rows) {
    finish();
    reading_ = std::async(std::launch::async, [rows = std::move(rows)] {
      Page page;
      PgBinaryCells cells(rows);
      page.jobs.reserve(rows.size() / kRowBytesMin);
      while (cells.next_row()) {
        page.jobs.push_back(job_from_cells(cells, page.attempts.emplace_back()));
      }
      return page;
    });
  }

  // All jobs by id, with their attempts.
  std::vector<Job> take(PgSession& session) && {
    finish();
    // The order of the table is nearly that of the ids, but not quite. Jobs are large: each is
    // moved once.
    struct Found {
      Job* job;
      int attempt;
    };
    std::vector<Found> found;
    for (Page& page : pages_) {
      for (size_t i = 0; i < page.jobs.size(); ++i) {
        found.push_back({&page.jobs[i], page.attempts[i]});
      }
    }
    std::ranges::sort(found, {}, [](const Found& each) { return each.job->id; });
    std::vector<Job> jobs;
    std::vector<int> numbers;
    jobs.reserve(found.size());
    numbers.reserve(found.size());
    for (const Found& each : found) {
      jobs.push_back(std::move(*each.job));
      numbers.push_back(each.attempt);
    }
    load_attempts(session, jobs, numbers);
    return jobs;
  }

 private:
  struct Page {
    std::vector<Job> jobs;
    std::vector<int> attempts;  // number of each job's latest, 0 = none
  };

  void finish() {
    if (reading_.valid()) pages_.push_back(reading_.get());
  }

  std::future<Page> reading_;
  std::vector<Page> pages_;
};

void load_nodes(PgSession& session, StoredState& state) {
  PgResult rows = session.run(
      "SELECT id, liveness, liveness_reason, scheduling, scheduling_reason, scheduling_by,"
      " drain_at, facts, peers, health"
      " FROM node ORDER BY id");
  for (int row = 0; row < rows.size(); ++row) {
    PgCells cells(rows, row);
    Node& node = state.nodes.emplace_back();
    cells.read(node.id);
    cells.read(node.liveness);
    cells.read(node.liveness_reason);
    cells.read(node.scheduling);
    cells.read(node.scheduling_reason);
    cells.read(node.scheduling_by);
    cells.read(node.drain_at);
    node.facts = cells.parsed(node_facts_from_json);
    node.peers = cells.parsed(node_peers_from_json);
    node.health = cells.parsed(node_health_from_json);
  }
}

void load_people(PgSession& session, StoredState& state) {
  PgResult rows = session.run(
      "SELECT name, role, active, groups, usage_gpu_seconds, usage_at FROM app_user ORDER BY name");
  for (int row = 0; row < rows.size(); ++row) {
    PgCells cells(rows, row);
    User& user = state.users.emplace_back();
    cells.read(user.name);
    cells.read(user.role);
    cells.read(user.active);
    cells.read(user.groups);
    cells.read(user.usage.gpu_seconds);
    cells.read(user.usage.at);
  }
  rows = session.run("SELECT owner, group_name, priority, nodes FROM quota");
  for (int row = 0; row < rows.size(); ++row) {
    PgCells cells(rows, row);
    Quota& quota = state.quotas.emplace_back();
    cells.read(quota.owner);
    cells.read(quota.group);
    cells.read(quota.priority);
    cells.read(quota.nodes);
  }
  rows = session.run("SELECT hash, user_name, label, created_at FROM token ORDER BY hash");
  for (int row = 0; row < rows.size(); ++row) {
    PgCells cells(rows, row);
    Token& token = state.tokens.emplace_back();
    cells.read(token.hash);
    cells.read(token.user);
    cells.read(token.label);
    cells.read(token.created_at);
  }
}

std::vector<AnsweredRequest> load_requests(PgSession& session) {
  // By the primary key, so that its cost does not follow the history.
  PgResult rows =
      session.run(fmt::format("SELECT id, user_name, request_id FROM job WHERE request_id <> ''"
                              " ORDER BY id DESC LIMIT {}",
                              kAnsweredRequestsMax));
  std::vector<AnsweredRequest> requests(static_cast<size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    PgCells cells(rows, row);
    AnsweredRequest& request = requests[static_cast<size_t>(row)];
    cells.read(request.job);
    cells.read(request.user);
    cells.read(request.request_id);
  }
  return requests;
}

}  // namespace

const char* const kIncidentColumns = "id, kind, subject, summary, opened_at, closed_at, body";

std::vector<Incident> load_incidents(PgSession& session, bool only_open) {
  return incidents_of(
      session.run(fmt::format("SELECT {} FROM incident{} ORDER BY id", kIncidentColumns,
                              only_open ? " WHERE closed_at IS NULL" : "")));
}

std::vector<Incident> incidents_of(const PgResult& rows) {
  std::vector<Incident> incidents;
  for (int row = 0; row < rows.size(); ++row) {
    PgCells cells(rows, row);
    Incident& incident = incidents.emplace_back();
    cells.read(incident.id);
    cells.read(incident.kind);
    cells.read(incident.subject);
    cells.read(incident.summary);
    cells.read(incident.opened_at);
    cells.read(incident.closed_at);
    if (Status status = incident_rest_from_json(cells.text(), incident); !status.is_ok()) {
      throw PgError(fmt::format("incident {}: {}", incident.id.value, status.message()));
    }
  }
  return incidents;
}

std::vector<Job> load_jobs(PgSession& session, const std::vector<JobState>& states) {
  const PgResult snapshot = session.run("SELECT pg_export_snapshot()");
  PgCopy copy(session.options(), std::string(snapshot.text(0, 0)), select_jobs(states));
  JobPages pages;
  for (std::string rows = copy.read(kPageBytes); !rows.empty(); rows = copy.read(kPageBytes)) {
    pages.add(std::move(rows));
  }
  return std::move(pages).take(session);
}

void load_attempts(PgSession& session, std::vector<Job>& jobs, const std::vector<int>& numbers) {
  PgArray ids;
  PgArray attempts;
  bool any = false;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (numbers[i] == 0) continue;
    any = true;
    ids.add(jobs[i].id);
    attempts.add(numbers[i]);
  }
  if (!any) return;
  const std::vector<std::string> params{ids.take(), attempts.take()};
  PgResult rows = session.call(attempts_statement(), params);
  for (int row = 0; row < rows.size(); ++row) {
    if (Job* job = find(jobs, attempt_job(rows, row))) job->attempt = attempt_from_row(rows, row);
  }
  rows = session.call(ranks_statement(), params);
  std::vector<RankRow> ranks;
  ranks.reserve(static_cast<size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) ranks.push_back(rank_from_row(rows, row));
  std::ranges::sort(ranks, {},
                    [](const RankRow& rank) { return std::pair(rank.job, rank.number); });
  for (RankRow& rank : ranks) {
    Job* job = find(jobs, rank.job);
    if (job != nullptr && job->attempt) add_rank(std::move(rank), *job->attempt);
  }
}

StoredState load_state_in(PgSession& session) {
  StoredState state;
  PgResult row = session.run(
      "SELECT started_epoch, last_seq, (SELECT coalesce(max(id), 0) FROM job) FROM cluster_epoch");
  if (row.size() != 1) throw PgError("table cluster_epoch is empty: the schema is damaged");
  state.epoch.value = row.integer(0, 0);
  state.last_seq = row.integer(0, 1);
  state.last_job.value = row.integer(0, 2);
  state.jobs = load_jobs(session, {JobState::queued, JobState::running, JobState::suspended});
  state.requests = load_requests(session);
  load_nodes(session, state);
  load_people(session, state);
  state.last_incident.value =
      session.run("SELECT coalesce(max(id), 0) FROM incident").integer(0, 0);
  state.incidents = load_incidents(session, /*only_open=*/true);
  return state;
}

StoredState load_state(PgSession& session) {
  PgSnapshot snapshot(session);
  prepare_to_load(session);
  StoredState state = load_state_in(session);
  snapshot.end();
  return state;
}

}  // namespace hai
