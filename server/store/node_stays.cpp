// Who was on a node, out of the rows of ranks and attempts.

#include "server/store/history_queries.h"
#include "server/store/json_codec.h"
#include "server/store/pg_cells.h"

namespace hai {
namespace {

NodeStay stay_of(const PgResult& rows, int row) {
  PgCells cells(rows, row);
  NodeStay stay;
  cells.read(stay.job);
  cells.read(stay.name);
  cells.read(stay.user);
  cells.read(stay.attempt);
  cells.read(stay.rank);
  cells.read(stay.state);
  cells.read(stay.placed_at);
  cells.read(stay.ended_at);
  std::optional<std::string> ending;
  cells.read(ending);
  if (!ending) return stay;
  Result<AttemptEnd> end = attempt_end_from_json(*ending);
  if (!end.is_ok()) throw PgError(end.status().message());
  stay.end_reason = end.value().reason;
  return stay;
}

}  // namespace

// A node may have seen a million ranks: the index gives the newest jobs, and only those are sorted.
Result<std::vector<NodeStay>> find_node_stays(PgSession& session, NodeId node, int limit) {
  if (limit < 1 || limit > kHistoryPageMax) {
    return invalid_argument("limit {}: must be 1 to {}", limit, kHistoryPageMax);
  }
  static const std::string sql =
      "SELECT r.job, j.name, j.user_name, r.attempt, r.rank, a.state, a.placed_at, a.ended_at,"
      " a.ending"
      " FROM (SELECT job, attempt, rank FROM rank WHERE node = $1::bigint"
      "        ORDER BY job DESC LIMIT $2::integer) r"
      " JOIN attempt a ON a.job = r.job AND a.number = r.attempt"
      " JOIN job j ON j.id = r.job"
      " ORDER BY a.placed_at DESC, r.job DESC";
  PgResult rows = session.call({"node_stays", sql.c_str()},
                               {std::to_string(node.value), std::to_string(limit)});
  std::vector<NodeStay> stays;
  for (int row = 0; row < rows.size(); ++row) stays.push_back(stay_of(rows, row));
  return stays;
}

}  // namespace hai
