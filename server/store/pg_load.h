#pragma once
// What a new leader reads: everything unfinished, in one snapshot. Runs on the store's thread.

#include "server/model/cluster_state.h"
#include "server/store/pg_session.h"

namespace hai {

// Throws PgError.
StoredState load_state(PgSession& session);

// The attempt of each job in `numbers` (job and attempt number, same length), with its ranks, put
// into `jobs`, which are sorted by id.
void load_attempts(PgSession& session, std::vector<Job>& jobs, const std::vector<int>& numbers);

// Whose commit a server must not get wrong: a transaction reads as of one moment.
class PgSnapshot {
 public:
  explicit PgSnapshot(PgSession& session) : session_(session) {
    session_.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }
  void end() { session_.run("COMMIT"); }

 private:
  PgSession& session_;
};

}  // namespace hai
