#pragma once
// Rows to model values: the only place that knows the order of columns. A row that cannot be read
// is a PgError: the database holds what no hai-server wrote.

#include <string>

#include "server/model/cluster_state.h"
#include "server/store/pg_binary_cells.h"
#include "server/store/pg_session.h"

namespace hai {

// Columns for SELECT, in the order the function of the same noun reads.
extern const char* const kJobColumns;      // the last: the number of its latest attempt
extern const char* const kAttemptColumns;  // of attempt a, without its ranks
extern const char* const kRankColumns;     // of rank r
extern const char* const kEventColumns;
// How many columns such a list has.
int column_count(std::string_view columns);

Job job_from_row(const PgResult& rows, int row);
// The same of kJobColumns in binary, with the number of its latest attempt.
Job job_from_cells(PgBinaryCells& cells, int& attempt);
int attempt_number(const PgResult& rows, int row);  // of a job's row: the latest, 0 = none
JobId attempt_job(const PgResult& rows, int row);
Attempt attempt_from_row(const PgResult& rows, int row);

// Which attempt a rank belongs to, and the rank; ranks come in order.
struct RankRow {
  JobId job;
  int attempt = 0;
  int number = 0;
  Rank rank;
};
RankRow rank_from_row(const PgResult& rows, int row);
// Adds the ranks in `rows`, which are sorted by rank, to their attempt.
void add_rank(RankRow row, Attempt& attempt);

Event event_from_row(const PgResult& rows, int row);

// job/17, node/3, user/ann, …; "" for what concerns the whole cluster.
std::string row_subject(const EventBody& body);
std::string row_subject(JobId job);
std::string row_subject(NodeId node);

}  // namespace hai
