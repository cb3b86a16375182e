#pragma once
// What a new leader reads: everything unfinished, in one snapshot. Runs on the store's thread.

#include "server/model/cluster_state.h"
#include "server/store/pg_session.h"

namespace hai {

// Throws PgError.
StoredState load_state(PgSession& session);
StoredState load_state_in(PgSession& session);  // the same inside a snapshot of the caller

// All jobs in one of these states, by id, with their latest attempt and its ranks.
std::vector<Job> load_jobs(PgSession& session, const std::vector<JobState>& states);

std::vector<Incident> load_incidents(PgSession& session, bool only_open);

// The attempt of each job in `numbers` (job and attempt number, same length), with its ranks, put
// into `jobs`, which are sorted by id.
void load_attempts(PgSession& session, std::vector<Job>& jobs, const std::vector<int>& numbers);

// While it exists, all queries of the session see the database as of one moment.
class PgSnapshot {
 public:
  explicit PgSnapshot(PgSession& session) : session_(session) {
    // It locks nothing, so it may be idle while its rows are read.
    session_.run(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
        " SET LOCAL idle_in_transaction_session_timeout = '1min'");
  }
  ~PgSnapshot() {
    if (!ended_) session_.close();
  }
  PgSnapshot(const PgSnapshot&) = delete;
  PgSnapshot& operator=(const PgSnapshot&) = delete;
  void end() {
    session_.run("COMMIT");
    ended_ = true;
  }

 private:
  PgSession& session_;
  bool ended_ = false;
};

}  // namespace hai
