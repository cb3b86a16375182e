#pragma once
// A PostgreSQL array literal, built element by element: one parameter carries a whole column, and
// unnest() makes rows of such columns.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/gpu_set.h"
#include "common/id.h"
#include "common/json/json_text.h"
#include "common/time.h"

namespace hai {

class PgArray {
 public:
  void add(int64_t value) {
    separate();
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    text_.append(digits, static_cast<size_t>(end - digits));
  }
  void add(int value) { add(static_cast<int64_t>(value)); }
  void add(bool value) {
    separate();
    text_ += value ? 't' : 'f';
  }
  template <typename Tag>
  void add(Id<Tag> id) {
    add(id.value);
  }
  // Cleaned: see json_text.h.
  void add(std::string_view value) {
    if (!is_clean_utf8(value)) return add_quoted(clean_utf8(value));
    add_quoted(value);
  }
  void add(const std::string& value) { add(std::string_view(value)); }
  void add(const char* value) { add(std::string_view(value)); }
  void add(UnixTime time) {
    separate();
    text_ += '"';
    append_time(text_, time);
    text_ += '"';
  }
  template <typename T>
  void add(const std::optional<T>& value) {
    if (value) return add(*value);
    separate();
    text_ += "NULL";
  }
  // Enums as their words.
  template <typename T>
  requires std::is_enum_v<T>
  void add(T value) { add(to_string(value)); }

  void add(GpuSet gpus) { add(to_string(gpus)); }
  // An array within an array travels as its text.
  void add(const std::vector<std::string>& texts) {
    PgArray inner;
    for (const std::string& text : texts) inner.add(text);
    add_quoted(inner.take());
  }

  // Closes it.
  std::string take() {
    text_ += '}';
    return std::move(text_);
  }

 private:
  void separate() {
    if (text_.size() > 1) text_ += ',';
  }
  void add_quoted(std::string_view value) {
    separate();
    text_ += '"';
    for (char byte : value) {
      if (byte == '"' || byte == '\\') text_ += '\\';
      text_ += byte;
    }
    text_ += '"';
  }

  std::string text_ = "{";
};

// The elements of a text[] as PostgreSQL writes it: {a,"b c"}; false if it is none.
bool parse_text_array(std::string_view text, std::vector<std::string>& out);

}  // namespace hai
