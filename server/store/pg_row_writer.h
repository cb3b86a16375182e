#pragma once
// Rows as statements take them: one array per column, in the order of the table's list.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/store/pg_array.h"
#include "server/store/pg_columns.h"

namespace hai {

// Adds a row's values, each to its column's array.
class PgRowWriter {
 public:
  PgRowWriter(std::vector<PgArray>& arrays, bool with_fixed)
      : arrays_(arrays), with_fixed_(with_fixed) {}

  template <typename T>
  void operator()(const PgColumn& column, const T& value) {
    if (PgArray* array = array_of(column)) array->add(value);
  }
  template <typename Make>
  void copy(const PgColumn& column, Make&& make) {
    if (PgArray* array = array_of(column)) array->add(make());
  }
  template <typename T, typename Parse>
  void json(const PgColumn& column, const T& value, Parse&&) {
    if (PgArray* array = array_of(column)) array->add(json_of(value));
  }
  template <typename Make, typename Take>
  void text(const PgColumn& column, Make&& make, Take&&) {
    copy(column, make);
  }

 private:
  PgArray* array_of(const PgColumn& column) {
    if (column.is_fixed && !with_fixed_) return nullptr;
    if (next_ == arrays_.size()) arrays_.emplace_back();
    return &arrays_[next_++];
  }
  template <typename T>
  static std::string json_of(const T& value) {
    return to_json(value);
  }
  template <typename T>
  static std::string json_of(const std::shared_ptr<const T>& value) {
    return to_json(*value);
  }
  template <typename T>
  static std::optional<std::string> json_of(const std::optional<T>& value) {
    return value ? std::optional(to_json(*value)) : std::nullopt;
  }

  std::vector<PgArray>& arrays_;
  const bool with_fixed_;
  size_t next_ = 0;
};

// Gathers the columns themselves.
struct PgColumnNames {
  std::vector<PgColumn>& names;

  template <typename T>
  void operator()(const PgColumn& column, const T&) {
    names.push_back(column);
  }
  template <typename Make>
  void copy(PgColumn column, Make&&) {
    column.is_copy = true;
    names.push_back(column);
  }
  template <typename T, typename Parse>
  void json(const PgColumn& column, const T&, Parse&&) {
    names.push_back(column);
  }
  template <typename Make, typename Take>
  void text(const PgColumn& column, Make&&, Take&&) {
    names.push_back(column);
  }
};

// Of a row type whose values can be made: Node, JobRow, …
template <typename Row>
const PgTable& table_of() {
  static const PgTable table = [] {
    PgTable made{PgColumns<Row>::kTable, {}};
    const Row nothing{};
    PgColumns<Row>::fields(nothing, PgColumnNames{made.columns});
    return made;
  }();
  return table;
}

// Appends one array per column to `params`; without those that are fixed, for an update.
template <typename Row>
void add_params(const std::vector<Row>& rows, std::vector<std::string>& params,
                bool with_fixed = true) {
  std::vector<PgArray> arrays;
  if constexpr (std::is_default_constructible_v<Row>) {
    if (rows.empty()) arrays.resize(table_of<Row>().columns.size());
  }
  for (const Row& row : rows) PgColumns<Row>::fields(row, PgRowWriter(arrays, with_fixed));
  for (PgArray& array : arrays) params.push_back(array.take());
}

}  // namespace hai
