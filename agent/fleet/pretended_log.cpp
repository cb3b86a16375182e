#include "agent/fleet/pretended_log.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {

namespace {

// All of one length, so that every place in the log is known.
std::string line_of(int64_t second) { return fmt::format("second {:>10}\n", second); }
constexpr int64_t kLineBytes = 18;

}  // namespace

LogChunk read_pretended_log(const LogRequest& request, Duration ran, bool has_ended) {
  const int64_t lines = std::chrono::floor<std::chrono::seconds>(ran).count() + 1;
  const int64_t size = lines * kLineBytes;
  int64_t from = std::clamp<int64_t>(request.offset, 0, size);
  if (request.tail_bytes > 0) {
    const int64_t tail_lines = std::min(lines, request.tail_bytes / kLineBytes);
    from = size - tail_lines * kLineBytes;
  }
  const int64_t to = std::min(size, from + request.max_bytes);
  LogChunk chunk;
  chunk.offset = from;
  chunk.next_offset = to;
  chunk.end = has_ended && to == size;
  if (from == to) return chunk;
  for (int64_t line = from / kLineBytes; line * kLineBytes < to; ++line)
    chunk.data += line_of(line);
  chunk.data =
      chunk.data.substr(static_cast<size_t>(from % kLineBytes), static_cast<size_t>(to - from));
  return chunk;
}

}  // namespace hai
