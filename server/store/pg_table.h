#pragma once
// Tables as data: each column is named once, with its type and where its value comes from, so that
// statements and their parameters cannot disagree. Rows travel as one array per column.

#include <string>
#include <vector>

#include "server/store/pg_array.h"

namespace hai {

struct PgColumnName {
  const char* name;
  const char* type;    // text[] and json travel as text and are cast
  bool fixed = false;  // written when the row is made, never after
};

template <typename Row>
struct PgColumn {
  PgColumnName column;
  void (*add)(PgArray& array, const Row& row);
};

// The first `keys` columns are the primary key.
template <typename Row>
struct PgTable {
  const char* name;
  size_t keys;
  std::vector<PgColumn<Row>> columns;

  std::vector<PgColumnName> names() const {
    std::vector<PgColumnName> names;
    for (const auto& column : columns) names.push_back(column.column);
    return names;
  }
  // Those an UPDATE sends: the key and what may change.
  PgTable<Row> changeable() const {
    PgTable<Row> table{name, keys, {}};
    for (const auto& column : columns) {
      if (!column.column.fixed) table.columns.push_back(column);
    }
    return table;
  }
  // Appends one array per column to `params`.
  void add_params(const std::vector<Row>& rows, std::vector<std::string>& params) const {
    for (const auto& column : columns) {
      PgArray array;
      for (const Row& row : rows) column.add(array, row);
      params.push_back(array.take());
    }
  }
};

struct PgTableName {
  const char* name;
  size_t keys;
  std::vector<PgColumnName> columns;
};
template <typename Row>
PgTableName name_of(const PgTable<Row>& table) {
  return {table.name, table.keys, table.names()};
}

// Statements over rows in the parameters $first_param, $first_param + 1, …
// `source` is put before unnest in FROM: "guard, " or "".
std::string insert_sql(const PgTableName& table, int first_param, const std::string& source = "");
std::string upsert_sql(const PgTableName& table, int first_param);
std::string update_sql(const PgTableName& table, int first_param, const std::string& source = "");
// Only the key columns are parameters.
std::string delete_sql(const PgTableName& table, int first_param);

}  // namespace hai
