#pragma once
// JSON as text, for the two places where speed counts: writing events (thousands a second) and
// loading a hundred thousand jobs on start. Nothing is built in memory: the writer appends, the
// view points into the text. Whatever is written is valid UTF-8 without NUL, which PostgreSQL
// refuses: one such byte in a job's name must not make a whole transaction fail.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

// `text` with NUL and every byte that is no valid UTF-8 replaced by U+FFFD.
std::string clean_utf8(std::string_view text);
bool is_clean_utf8(std::string_view text);

// Appends `text` cleaned, quoted and escaped.
void append_json_string(std::string& out, std::string_view text);

// RFC 3339 in UTC with all microseconds: "2026-11-20T08:00:00.123456Z", years 0001 to 9999; times
// outside are clamped. PostgreSQL reads it too.
void append_time(std::string& out, UnixTime time);
// The reverse; 'T' may be a space and the zone "Z" or "+00", as PostgreSQL writes it.
std::optional<UnixTime> parse_time(std::string_view text);

// A value inside a checked JSON text, which must outlive it.
class JsonView {
 public:
  using Members = std::vector<std::pair<std::string_view, JsonView>>;

  // Checks the syntax of the whole text; nesting at most 64 levels.
  static Result<JsonView> parse(std::string_view text);

  std::string_view text() const { return text_; }
  bool is_null() const { return text_ == "null"; }
  std::optional<bool> as_bool() const;
  std::optional<int64_t> as_int() const;
  std::optional<double> as_double() const;
  std::optional<std::string> as_string() const;
  // False if it is no object or array. Keys are as written, escapes not resolved.
  bool members(Members& out) const;
  bool elements(std::vector<JsonView>& out) const;

 private:
  explicit JsonView(std::string_view text) : text_(text) {}
  std::string_view text_;
};

// Resolves the escapes of a key or of a string without its quotes.
std::string unescape_json(std::string_view raw);

}  // namespace hai
