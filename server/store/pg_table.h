#pragma once
// Tables as data, and the statements made of it. Rows travel as one array per column.

#include <string>
#include <vector>

namespace hai {

struct PgColumn {
  const char* name;
  const char* type;       // text[] and json travel as text and are cast
  bool is_fixed = false;  // written when the row is made, never after
  bool is_copy = false;   // for searches; not read
};

struct PgTableNames {
  const char* name;
  const char* alias;  // before its columns in joins, or ""
  size_t keys;        // the first columns are the primary key
};

struct PgTable {
  PgTableNames names;
  std::vector<PgColumn> columns;

  // Those an UPDATE sends: the key and what may change.
  PgTable changeable() const;
  // What is read, for SELECT; `copies` of it instead.
  std::string select_list(bool copies = false) const;
};

// Statements over rows in the parameters $first_param, $first_param + 1, …
// `source` is put before unnest in FROM: "guard, " or "".
std::string insert_sql(const PgTable& table, int first_param, const std::string& source = "");
std::string upsert_sql(const PgTable& table, int first_param);
std::string update_sql(const PgTable& table, int first_param, const std::string& source = "");
// Only the key columns are parameters.
std::string delete_sql(const PgTable& table, int first_param);

}  // namespace hai
