#pragma once
// The tables of schemas/sql as pg_append writes them.

#include "server/model/cluster_state.h"
#include "server/store/pg_table.h"

namespace hai {

// Rows point into the batch they come from.
using EventRow = const Event*;
using JobRow = const Job*;
struct AttemptRow {
  JobId job;
  const Attempt* attempt;
};
struct RankOfAttempt {
  JobId job;
  int attempt;
  int number;
  const Rank* rank;
};

const PgTable<EventRow>& event_table();
const PgTable<JobRow>& job_table();
const PgTable<AttemptRow>& attempt_table();
const PgTable<RankOfAttempt>& rank_table();
const PgTable<Node>& node_table();
const PgTable<User>& user_table();
const PgTable<Quota>& quota_table();
const PgTable<Token>& token_table();
const PgTable<Incident>& incident_table();

}  // namespace hai
