#include "server/store/pg_table.h"

#include <fmt/core.h>

#include <string_view>

namespace hai {
namespace {

bool travels_as_text(const PgColumn& column) {
  const std::string_view type = column.type;
  return type.ends_with("[]") || type.starts_with("json");
}

std::string join(const std::vector<std::string>& parts, const char* separator = ", ") {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

std::string column_list(const std::vector<PgColumn>& columns, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.emplace_back(columns[i].name);
  return join(names);
}

// unnest($1::bigint[], $2::text[]) AS u(id, name)
std::string unnest(const std::vector<PgColumn>& columns, size_t count, int first_param) {
  std::vector<std::string> arrays;
  for (size_t i = 0; i < count; ++i) {
    arrays.push_back(fmt::format("${}::{}[]", first_param + static_cast<int>(i),
                                 travels_as_text(columns[i]) ? "text" : columns[i].type));
  }
  return fmt::format("unnest({}) AS u({})", join(arrays), column_list(columns, count));
}

std::string value_of(const PgColumn& column) {
  if (!travels_as_text(column)) return fmt::format("u.{}", column.name);
  return fmt::format("u.{}::{}", column.name, column.type);
}

std::string same_key(const PgTable& table) {
  std::vector<std::string> terms;
  for (size_t i = 0; i < table.names.keys; ++i) {
    terms.push_back(fmt::format("t.{0} = u.{0}", table.columns[i].name));
  }
  return join(terms, " AND ");
}

}  // namespace

PgTable PgTable::changeable() const {
  PgTable table = *this;
  std::erase_if(table.columns, [](const PgColumn& column) { return column.is_fixed; });
  return table;
}

std::string PgTable::select_list(bool copies) const {
  const std::string prefix = *names.alias == 0 ? "" : fmt::format("{}.", names.alias);
  std::vector<std::string> list;
  for (const PgColumn& column : columns) {
    if (column.is_copy == copies) list.push_back(prefix + column.name);
  }
  return join(list);
}

std::string insert_sql(const PgTable& table, int first_param, const std::string& source) {
  std::vector<std::string> values;
  for (const PgColumn& column : table.columns) values.push_back(value_of(column));
  return fmt::format("INSERT INTO {} ({}) SELECT {} FROM {}{}", table.names.name,
                     column_list(table.columns, table.columns.size()), join(values), source,
                     unnest(table.columns, table.columns.size(), first_param));
}

std::string upsert_sql(const PgTable& table, int first_param) {
  std::vector<std::string> changes;
  for (size_t i = table.names.keys; i < table.columns.size(); ++i) {
    if (table.columns[i].is_fixed) continue;
    changes.push_back(fmt::format("{0} = excluded.{0}", table.columns[i].name));
  }
  return fmt::format("{} ON CONFLICT ({}) DO UPDATE SET {}", insert_sql(table, first_param),
                     column_list(table.columns, table.names.keys), join(changes));
}

std::string update_sql(const PgTable& table, int first_param, const std::string& source) {
  std::vector<std::string> changes;
  for (size_t i = table.names.keys; i < table.columns.size(); ++i) {
    changes.push_back(fmt::format("{} = {}", table.columns[i].name, value_of(table.columns[i])));
  }
  return fmt::format("UPDATE {} AS t SET {} FROM {}{} WHERE {}", table.names.name, join(changes),
                     source, unnest(table.columns, table.columns.size(), first_param),
                     same_key(table));
}

std::string delete_sql(const PgTable& table, int first_param) {
  return fmt::format("DELETE FROM {} AS t USING {} WHERE {}", table.names.name,
                     unnest(table.columns, table.names.keys, first_param), same_key(table));
}

}  // namespace hai
