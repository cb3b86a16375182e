#include "server/store/pg_load.h"

#include <algorithm>
#include <future>

#include "server/store/pg_cells.h"
#include "server/store/pg_copy.h"
#include "server/store/pg_rows.h"

namespace hai {
namespace {

// Read on one thread while the next ones come.
constexpr size_t kPageBytes = 1 << 20;
constexpr size_t kRowBytesMin = 256;  // a guess, for reserving
constexpr int kJobsWithRequestsMax = 50'000;

// By the index on (state, id), whatever the size of the history.
std::string select_jobs(const std::vector<JobState>& states) {
  std::string list;
  for (JobState state : states) {
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", to_string(state));
  }
  return fmt::format("SELECT {} FROM job WHERE state IN ({})", select_list<JobRow>(), list);
}

const PgStatement& attempts_statement() {
  static const std::string sql = fmt::format(
      "SELECT {} FROM unnest($1::bigint[], $2::integer[]) AS k(job, number)"
      " JOIN attempt a ON a.job = k.job AND a.number = k.number",
      select_list<AttemptRow>());
  static const PgStatement statement{"load_attempts", sql.c_str()};
  return statement;
}

const PgStatement& ranks_statement() {
  static const std::string sql = fmt::format(
      "SELECT {} FROM unnest($1::bigint[], $2::integer[]) AS k(job, number)"
      " JOIN rank r ON r.job = k.job AND r.attempt = k.number",
      select_list<RankRow>());
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
        JobRow row = read_row(cells);
        page.jobs.push_back(std::move(row.job));
        page.attempts.push_back(row.attempt);
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

template <typename Row>
std::vector<Row> read_all(PgSession& session, std::string_view which) {
  return read_rows<Row>(session.run(
      fmt::format("SELECT {} FROM {} {}", select_list<Row>(), PgColumns<Row>::kTable.name, which)));
}

std::vector<AnsweredRequest> load_requests(PgSession& session) {
  // By the primary key, and not beyond so many jobs: where few have a request id, as tasks of
  // arrays, the others lie anywhere in the history, and a start would read it all.
  PgResult rows = session.run(
      fmt::format("SELECT id, user_name, request_id FROM job WHERE request_id <> ''"
                  " AND id > (SELECT coalesce(max(id), 0) FROM job) - {} ORDER BY id DESC LIMIT {}",
                  kJobsWithRequestsMax, kAnsweredRequestsMax));
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

std::vector<Incident> load_incidents(PgSession& session, bool only_open) {
  return read_all<Incident>(session,
                            only_open ? "WHERE closed_at IS NULL ORDER BY id" : "ORDER BY id");
}

std::vector<Job> load_jobs(PgSession& session, const std::vector<JobState>& states) {
  const PgResult snapshot = session.run("SELECT pg_export_snapshot()");
  PgCopy copy(session.options_here(), std::string(snapshot.text(0, 0)), select_jobs(states));
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
  for (AttemptRow& row : read_rows<AttemptRow>(rows)) {
    if (Job* job = find(jobs, row.job)) job->attempt = std::move(row.attempt);
  }
  std::vector<RankRow> ranks = read_rows<RankRow>(session.call(ranks_statement(), params));
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
  state.nodes = read_all<Node>(session, "ORDER BY id");
  state.users = read_all<User>(session, "ORDER BY name");
  state.quotas = read_all<Quota>(session, "");
  state.tokens = read_all<Token>(session, "ORDER BY hash");
  state.secrets = read_all<Secret>(session, "");
  state.identities = read_all<NodeIdentity>(session, "ORDER BY node");
  state.knobs = read_all<KnobSetting>(session, "ORDER BY name");
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
