#pragma once
// Rows to values, by the lists of pg_columns.h. A row that cannot be read is a PgError: the
// database holds what no hai-server wrote.

#include <optional>
#include <string>
#include <vector>

#include "server/store/pg_binary_cells.h"
#include "server/store/pg_columns.h"
#include "server/store/pg_session.h"

namespace hai {

using JobRow = JobRowOf<Job>;
using AttemptRow = AttemptRowOf<Attempt>;
using RankRow = RankRowOf<Rank>;

// For these rows and Event, Node, User, Quota, Token and Incident.

// What SELECT names: the columns that read_row() reads, in its order.
template <typename Row>
const std::string& select_list();
// Behind it, if asked for: columns that repeat what the row has. What stands in the first that says
// something else; nullopt = they agree.
template <typename Row>
const std::string& copies_list();
template <typename Row>
std::optional<std::string> wrong_copy(const PgResult& rows, int row, const Row& value);

template <typename Row>
Row read_row(const PgResult& rows, int row);
template <typename Row>
std::vector<Row> read_rows(const PgResult& rows) {
  std::vector<Row> values;
  values.reserve(static_cast<size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) values.push_back(read_row<Row>(rows, row));
  return values;
}
// The same of a binary COPY.
JobRow read_row(PgBinaryCells& cells);

// Adds the rank to its attempt; ranks come in order.
void add_rank(RankRow row, Attempt& attempt);

}  // namespace hai
