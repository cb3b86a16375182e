#include "server/store/history.h"

#include "server/store/audit_log.h"
#include "server/store/history_queries.h"
#include "server/store/hour_queries.h"
#include "server/store/pg_worker.h"
#include "server/store/sample_queries.h"
#include "server/store/server_queries.h"

namespace hai {
namespace {

// Each waits for those before it; whoever comes when so many wait is better told at once.
constexpr size_t kReadQueueMax = 256;
constexpr Duration kReadLimit = 20s;

}  // namespace

namespace {

// A connection that broke while nobody used it is noticed only by the next question, and the one
// after it finds a fresh one. Questions change nothing, so asking again is safe.
template <typename T>
Result<T> ask_twice(PgSession& session, const std::function<Result<T>(PgSession&)>& question) {
  try {
    return question(session);
  } catch (const PgError&) {
    return question(session);
  }
}

}  // namespace

struct PgHistory::Impl {
  PgWorker worker;

  Impl(Loop& loop, std::string conninfo)
      : worker(loop, {.conninfo = std::move(conninfo), .plan_cache_mode = "auto"}, kReadQueueMax) {}

  template <typename T>
  void ask(std::function<Result<T>(PgSession&)> question, std::function<void(Result<T>)> done) {
    auto found = std::make_shared<std::optional<T>>();
    worker.submit(
        [question = std::move(question), found](PgSession& session) -> Status {
          Result<T> result = ask_twice<T>(session, question);
          if (!result.is_ok()) return result.status();
          *found = std::move(result).value();
          return ok();
        },
        [found, done = std::move(done)](Status status) {
          done(status.is_ok() ? Result<T>(std::move(**found)) : Result<T>(std::move(status)));
        },
        kReadLimit);
  }
};

PgHistory::PgHistory(Loop& loop, std::string conninfo)
    : impl_(std::make_unique<Impl>(loop, std::move(conninfo))) {}

PgHistory::~PgHistory() = default;

void PgHistory::jobs(JobQuery query, std::function<void(Result<std::vector<Job>>)> done) {
  impl_->ask<std::vector<Job>>(
      [query = std::move(query)](PgSession& session) { return find_jobs(session, query); },
      std::move(done));
}

void PgHistory::job(JobKey key, std::function<void(Result<Job>)> done) {
  impl_->ask<Job>([key = std::move(key)](PgSession& session) { return find_job(session, key); },
                  std::move(done));
}

void PgHistory::attempts(JobId job, std::function<void(Result<std::vector<Attempt>>)> done) {
  impl_->ask<std::vector<Attempt>>(
      [job](PgSession& session) { return find_attempts(session, job); }, std::move(done));
}

void PgHistory::events(EventQuery query, std::function<void(Result<std::vector<Event>>)> done) {
  impl_->ask<std::vector<Event>>(
      [query](PgSession& session) { return find_events(session, query); }, std::move(done));
}

void PgHistory::incidents(IncidentQuery query,
                          std::function<void(Result<std::vector<Incident>>)> done) {
  impl_->ask<std::vector<Incident>>(
      [query](PgSession& session) { return find_closed_incidents(session, query); },
      std::move(done));
}

void PgHistory::stays(NodeId node, int limit,
                      std::function<void(Result<std::vector<NodeStay>>)> done) {
  impl_->ask<std::vector<NodeStay>>(
      [node, limit](PgSession& session) { return find_node_stays(session, node, limit); },
      std::move(done));
}

void PgHistory::audit(AuditQuery query, std::function<void(Result<std::vector<AuditRow>>)> done) {
  impl_->ask<std::vector<AuditRow>>(
      [query = std::move(query)](PgSession& session) -> Result<std::vector<AuditRow>> {
        return find_audit(session, query);
      },
      std::move(done));
}

void PgHistory::save(ClusterSample sample, Duration keep) {
  impl_->ask<bool>(
      [sample, keep](PgSession& session) -> Result<bool> {
        save_sample(session, sample, keep);
        return true;
      },
      [](Result<bool>) {});  // a minute that is lost leaves a gap in a chart
}

void PgHistory::load(UnixTime since, Duration step,
                     std::function<void(Result<std::vector<ClusterSample>>)> done) {
  impl_->ask<std::vector<ClusterSample>>(
      [since, step](PgSession& session) -> Result<std::vector<ClusterSample>> {
        return find_samples(session, since, step);
      },
      std::move(done));
}

void PgHistory::count(Duration keep, std::function<void(Result<bool>)> done) {
  impl_->ask<bool>(
      [keep](PgSession& session) -> Result<bool> { return count_hours(session, keep); },
      std::move(done));
}

void PgHistory::report(UnixTime since, UnixTime until, Duration step,
                       std::function<void(Result<HourReport>)> done) {
  impl_->ask<HourReport>(
      [since, until, step](PgSession& session) -> Result<HourReport> {
        return find_hours(session, since, until, step);
      },
      std::move(done));
}

void PgHistory::note(std::string own, Duration keep,
                     std::function<void(Result<std::vector<std::string>>)> done) {
  impl_->ask<std::vector<std::string>>(
      [own = std::move(own), keep](PgSession& session) -> Result<std::vector<std::string>> {
        return note_server(session, own, keep);
      },
      std::move(done));
}

}  // namespace hai
