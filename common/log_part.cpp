#include "common/log_part.h"

#include <algorithm>

namespace hai {

Result<int64_t> log_tail_offset(const ReadLogPart& read, int64_t tail_bytes) {
  const Result<LogPart> end = read(INT64_MAX, 0);
  if (!end.is_ok()) return end.status();
  const int64_t wanted = end.value().end_offset - std::max<int64_t>(0, tail_bytes);
  if (wanted <= end.value().first_available_offset) return end.value().first_available_offset;
  // From one byte before: if that is a newline, the line right after it counts as whole.
  const int64_t line_bytes_max = static_cast<int64_t>(kLogLineBytesMax) + 64;
  const Result<LogPart> part = read(wanted - 1, line_bytes_max);
  if (!part.is_ok()) return part.status();
  const size_t newline = part.value().bytes.find('\n');
  if (newline == std::string::npos) return end.value().end_offset;
  return part.value().offset + static_cast<int64_t>(newline) + 1;
}

}  // namespace hai
