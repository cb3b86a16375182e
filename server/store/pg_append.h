#pragma once
// One AppendBatch as one transaction. Runs on the store's thread. Events, new jobs and changed jobs
// go in a single statement, which is all that a submit needs: one round trip and one flush.

#include <map>
#include <vector>

#include "server/control/ports.h"
#include "server/store/pg_session.h"

namespace hai {

class LeaderLease;

class PgAppender {
 public:
  // Extends the lease by `lease`. Throws PgError if it is unknown whether it was written.
  Status append(PgSession& session, const AppendBatch& batch, const LeaderLease& lease);
  // Before the first append of an epoch: other servers may have written since.
  void forget_written() { written_.clear(); }

 private:
  struct Rows;
  Rows rows_of(const AppendBatch& batch) const;
  void add_attempt(JobId job, const Attempt& attempt, Rows& rows) const;
  void write_others(PgSession& session, const AppendBatch& batch, const Rows& rows);
  void remember(const AppendBatch& batch);

  // Attempts as last written, so that one rank of a large gang that changes is one row, not all.
  std::map<JobId, Attempt> written_;
};

}  // namespace hai
