#pragma once
// Reads rows that PgCopy gave, cell by cell from left to right, as the model's types: the same
// words as PgCells.

#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "common/id.h"
#include "common/time.h"
#include "server/model/states.h"
#include "server/store/pg_session.h"

namespace hai {

class PgBinaryCells {
 public:
  explicit PgBinaryCells(std::string_view rows) : rest_(rows) {}

  // To the first or next row, false if there is none.
  bool next_row() {
    if (rest_.empty()) return false;
    number<int16_t>();
    return true;
  }

  std::string_view text() {
    if (!begin_cell()) fail();
    return take(size_);
  }
  void read(std::string& out) { out = text(); }
  void read(bool& out) { out = text() == std::string_view("\1", 1); }
  void read(int64_t& out) {
    if (!begin_cell()) fail();
    out = size_ == sizeof(int32_t) ? number<int32_t>() : number<int64_t>();
  }
  void read(int& out) {
    int64_t wide = 0;
    read(wide);
    out = static_cast<int>(wide);
  }
  template <typename Tag>
  void read(Id<Tag>& out) {
    read(out.value);
  }
  void read(UnixTime& out) {
    int64_t micros = 0;
    read(micros);
    out = unix_micros(micros + kMicrosTo2000);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void read(T& out) {
    const std::optional<T> value = parse_enum<T>(text());
    if (!value) fail();
    out = *value;
  }
  template <typename T>
  void read(std::optional<T>& out) {
    const std::string_view before = rest_;
    out.reset();
    if (!begin_cell()) return;
    rest_ = before;
    read(out.emplace());
  }
  template <typename T>
  T parsed(Result<T> (*parse)(std::string_view)) {
    Result<T> value = parse(text());
    if (!value.is_ok()) throw PgError(value.status().message());
    return std::move(value).value();
  }

 private:
  // PostgreSQL counts from 2000-01-01.
  static constexpr int64_t kMicrosTo2000 = 946'684'800'000'000;

  bool begin_cell() {  // false: null
    const int32_t size = number<int32_t>();
    size_ = static_cast<size_t>(std::max(size, 0));
    return size >= 0;
  }
  std::string_view take(size_t size) {
    if (rest_.size() < size) fail();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  template <typename Integer>
  Integer number() {
    const std::string_view bytes = take(sizeof(Integer));
    std::make_unsigned_t<Integer> value = 0;
    for (const char byte : bytes) {
      value = static_cast<decltype(value)>(value << 8 | static_cast<unsigned char>(byte));
    }
    return static_cast<Integer>(value);
  }
  [[noreturn]] static void fail() { throw PgError("a row is not what was asked for"); }

  std::string_view rest_;
  size_t size_ = 0;
};

}  // namespace hai
