#pragma once
// A part of the log of one rank, wherever it is read from: the files on its node, or the log store.

#include <cstdint>
#include <functional>
#include <string>

#include "common/status.h"

namespace hai {

inline constexpr size_t kLogLineBytesMax = 16 << 10;  // longer lines are cut into pieces

struct LogPart {
  std::string bytes;
  int64_t offset = 0;       // of the first byte; later than asked for if older ones were deleted
  int64_t next_offset = 0;  // ask for this to go on
  int64_t first_available_offset = 0;  // older bytes are gone
  int64_t end_offset = 0;              // how long the whole stream is by now
};

// Reads at most max_bytes from `offset` on; none at the end of the log.
using ReadLogPart = std::function<Result<LogPart>(int64_t offset, int64_t max_bytes)>;

// Where to begin for the last part of a log: at the start of a line, at most tail_bytes before the
// end. Fails as `read` does.
Result<int64_t> log_tail_offset(const ReadLogPart& read, int64_t tail_bytes);

}  // namespace hai
