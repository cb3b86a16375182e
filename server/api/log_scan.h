#pragma once
// Looks for a text in a piece of a log. Pure: any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"

namespace hai {

// A line as its shim wrote it: the time, then what the rank wrote.
struct LogLineView {
  std::optional<UnixTime> at;
  std::string_view text;
};
LogLineView split_log_line(std::string_view line);

class LogMatcher {
 public:
  // `match_case` false: A to Z are as a to z.
  LogMatcher(std::string text, bool match_case);
  // The first place at or after `from`, or npos. `ready` is what prepare() made.
  size_t find(std::string_view ready, size_t from) const;
  // `text` as find() wants it: in lower case where case does not count. May use `room`.
  std::string_view prepare(std::string_view text, std::string& room) const;
  size_t size() const { return text_.size(); }

 private:
  std::string text_;
  bool match_case_;
};

struct LogHit {
  int64_t offset = 0;  // of the line in the log
  std::optional<UnixTime> at;
  std::string text;  // valid UTF-8; of a long line what is around the match
};

struct LogScanRequest {
  std::string_view data;
  int64_t offset = 0;   // of `data`, at the start of a line
  bool is_end = false;  // a last line without its end is a line, too
  std::optional<UnixTime> since = {};
  std::optional<UnixTime> until = {};
  size_t hits_max = 0;
};
struct LogScan {
  std::vector<LogHit> hits;
  int64_t next_offset = 0;     // of the first line that was not looked at
  bool is_past_until = false;  // what follows was written later
};
LogScan scan_log(const LogMatcher& matcher, const LogScanRequest& request);

}  // namespace hai
