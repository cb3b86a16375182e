#include "agent/os/log_source.h"

#include <algorithm>

#include "agent/os/log_reader.h"
#include "agent/os/rank_directory.h"

namespace hai {

OsLogSource::OsLogSource(std::string data_dir, std::function<bool(const RankKey&)> is_live)
    : data_dir_(std::move(data_dir)), is_live_(std::move(is_live)) {}

LogChunk OsLogSource::read(const LogRequest& request) {
  // Asked before reading: otherwise lines written between the read and the question would be lost.
  const bool is_live = is_live_(request.key);
  const std::string directory = log_directory(data_dir_, request.key);
  LogChunk chunk;
  int64_t offset = request.offset;
  if (request.tail_bytes > 0) {
    const Result<int64_t> tail = log_tail_offset(directory, request.tail_bytes);
    if (tail.is_ok()) offset = tail.value();
  }
  const int64_t max_bytes = std::clamp<int64_t>(request.max_bytes, 1, kMaxLogChunkBytes);
  Result<LogPart> part = read_log(directory, offset, max_bytes);
  if (!part.is_ok()) {
    chunk.offset = chunk.next_offset = offset;
    // A rank that is just starting has no log yet: the reader may wait for it.
    if (!is_live) chunk.error = "no log of rank " + to_string(request.key) + " on this node";
    return chunk;
  }
  chunk.data = std::move(part.value().bytes);
  chunk.offset = part.value().offset;
  chunk.next_offset = part.value().next_offset;
  chunk.end = !is_live && chunk.next_offset >= part.value().end_offset;
  return chunk;
}

}  // namespace hai
