#pragma once
// The structured log: an event name, then key=value. One line per event, to a file or stderr, with
// time (UTC) and level; where stderr is systemd's journal it says those itself.
// Any thread may log. model and plan never do: they return reasons. Library hai_log, so that pure
// libraries cannot link it.

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "common/id.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

enum class LogLevel { debug, info, warning, error, off };
std::string_view to_string(LogLevel level);
Result<LogLevel> parse_log_level(std::string_view text);

// One key=value; numbers, texts, ids, durations, times and statuses convert by themselves.
struct LogField {
  std::string_view key;
  std::string value;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, bool v) : key(k), value(v ? "true" : "false") {}
  template <typename T>
  requires(std::integral<T> || std::floating_point<T>) LogField(std::string_view k, T v)
      : key(k), value(fmt::format("{}", v)) {}
  template <typename Tag>
  LogField(std::string_view k, Id<Tag> v) : key(k), value(std::to_string(v.value)) {}
  LogField(std::string_view k, const RankKey& v) : key(k), value(to_string(v)) {}
  LogField(std::string_view k, Duration v) : key(k), value(format_duration(v)) {}
  LogField(std::string_view k, UnixTime v) : key(k), value(format_rfc3339(v)) {}
  LogField(std::string_view k, const Status& v) : key(k), value(v.is_ok() ? "ok" : v.message()) {}
};
using LogFields = std::initializer_list<LogField>;

void log_debug(std::string_view event, LogFields fields = {});
void log_info(std::string_view event, LogFields fields = {});
void log_warning(std::string_view event, LogFields fields = {});
void log_error(std::string_view event, LogFields fields = {});

// The level is info and the target stderr until these are called.
void set_log_level(LogLevel level);
// Appends to a file. "" goes back to stderr.
Status set_log_file(const std::string& path);
// Opens the file by its name again: for who has moved it away. Does nothing without a file. After
// an error the old one is still written to.
Status reopen_log_file();

// `event key=value key="with spaces"`: values are quoted when they need it, control characters
// escaped, and cut at 4,096 bytes. Here for tests.
std::string format_log_line(std::string_view event, LogFields fields);

}  // namespace hai
