#pragma once
// Reads the cells of one row from left to right as the model's types.

#include <optional>
#include <string>
#include <vector>

#include "common/gpu_set.h"
#include "common/id.h"
#include "common/json/json_text.h"
#include "common/time.h"
#include "server/model/states.h"
#include "server/store/pg_array.h"
#include "server/store/pg_session.h"

namespace hai {

class PgCells {
 public:
  PgCells(const PgResult& rows, int row, int column = 0)
      : rows_(rows), row_(row), column_(column) {}

  void read(std::string& out) { out = text(); }
  void read(bool& out) { out = text() == "t"; }
  void read(int& out) { out = static_cast<int>(rows_.integer(row_, column_++)); }
  void read(int64_t& out) { out = rows_.integer(row_, column_++); }
  template <typename Tag>
  void read(Id<Tag>& out) {
    read(out.value);
  }
  void read(UnixTime& out) { take(parse_time(text()), out); }
  void read(GpuSet& out) {
    Result<GpuSet> gpus = parse_gpu_set(text());
    take(gpus.is_ok() ? std::optional(gpus.value()) : std::nullopt, out);
  }
  void read(std::vector<std::string>& out) {
    if (!parse_text_array(text(), out)) fail();
  }
  template <typename T>
  requires std::is_enum_v<T>
  void read(T& out) { take(parse_enum<T>(text()), out); }
  template <typename T>
  void read(std::optional<T>& out) {
    if (rows_.is_null(row_, column_)) {
      ++column_;
      out.reset();
    } else {
      read(out.emplace());
    }
  }
  std::string_view text() { return rows_.text(row_, column_++); }
  // For text read by json_codec.
  template <typename T>
  T parsed(Result<T> (*parse)(std::string_view)) {
    Result<T> value = parse(text());
    if (!value.is_ok()) throw PgError(value.status().message());
    return std::move(value).value();
  }

 private:
  template <typename T>
  void take(std::optional<T> value, T& out) {
    if (!value) fail();
    out = *value;
  }
  [[noreturn]] void fail() {
    throw PgError(fmt::format("column {}: cannot read \"{}\"", column_ - 1,
                              rows_.text(row_, column_ - 1).substr(0, 100)));
  }

  const PgResult& rows_;
  int row_;
  int column_;
};

}  // namespace hai
