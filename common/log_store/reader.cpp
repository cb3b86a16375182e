#include "common/log_store/reader.h"

#include <algorithm>

#include "common/gzip/gzip.h"
#include "common/log_store/layout.h"

namespace hai {

namespace {

Status no_log(const RankKey& key) {
  return not_found("the log store has no log of rank {}", to_string(key));
}

Status as_no_log(const RankKey& key, const Status& status) {
  return status.code() == Code::not_found ? no_log(key) : status;
}

Result<RankRecord> read_record(const Folder& folder) {
  const Result<std::string> text = folder.read(kRankRecord, kRankRecordBytesMax);
  if (!text.is_ok()) return text.status();
  return rank_record_from_json(text.value());
}

}  // namespace

Result<std::vector<int64_t>> list_chunks(const Folder& folder) {
  const Result<std::vector<std::string>> names = folder.list();
  if (!names.is_ok()) return names.status();
  std::vector<int64_t> starts;
  for (const std::string& name : names.value()) {
    if (const auto start = parse_chunk_name(name)) starts.push_back(*start);
  }
  std::ranges::sort(starts);
  return starts;
}

Result<StoredLogPart> StoredLogReader::read(const LogStore& store,
                                            const StoredLogRequest& request) {
  const FileUser user = store.use();
  const Result<Folder> folder = store.open_rank(request.key);
  if (!folder.is_ok()) return as_no_log(request.key, folder.status());
  const Result<RankRecord> record = read_record(folder.value());
  if (!record.is_ok()) return as_no_log(request.key, record.status());
  // A job of a database before this one had the same number.
  if (record.value().user != request.user) return no_log(request.key);

  const ReadLogPart read = [&](int64_t offset, int64_t max_bytes) {
    return read_part(folder.value(), request, offset, max_bytes);
  };
  int64_t offset = request.offset;
  if (request.tail_bytes > 0) {
    const Result<int64_t> tail = log_tail_offset(read, request.tail_bytes);
    if (!tail.is_ok()) return as_no_log(request.key, tail.status());
    offset = tail.value();
  }
  Result<LogPart> part = read(offset, request.max_bytes);
  if (!part.is_ok()) return as_no_log(request.key, part.status());
  return StoredLogPart{.part = std::move(part).value(),
                       .is_whole = record.value().ended_at.has_value(),
                       .written_at = chunks_.front().facts.changed_at};
}

Result<LogPart> StoredLogReader::read_part(const Folder& folder, const StoredLogRequest& request,
                                           int64_t offset, int64_t max_bytes) {
  const Result<std::vector<int64_t>> listed = list_chunks(folder);
  if (!listed.is_ok()) return listed.status();
  const std::vector<int64_t>& starts = listed.value();
  if (starts.empty()) return no_log(request.key);
  LogPart part;
  part.first_available_offset = starts.front();
  part.offset = std::max(offset, starts.front());
  auto start = std::prev(std::upper_bound(starts.begin(), starts.end(), part.offset));
  for (; start != starts.end(); ++start) {
    const auto wanted = static_cast<size_t>(max_bytes) - part.bytes.size();
    if (wanted == 0) break;
    const int64_t at = part.offset + static_cast<int64_t>(part.bytes.size());
    // Between chunks bytes may be missing: a piece ends there, and the next one begins behind it.
    if (at < *start && !part.bytes.empty()) break;
    if (at < *start) part.offset = *start;
    const Result<const Chunk*> chunk = load(folder, request.key, *start);
    if (!chunk.is_ok()) return chunk.status();
    const std::string& text = chunk.value()->text;
    const auto from = static_cast<size_t>(std::max(at, *start) - *start);
    if (from < text.size()) part.bytes += text.substr(from, wanted);
  }
  const Result<const Chunk*> last = load(folder, request.key, starts.back());
  if (!last.is_ok()) return last.status();
  part.end_offset = starts.back() + static_cast<int64_t>(last.value()->text.size());
  if (part.bytes.empty()) part.offset = std::min(part.offset, part.end_offset);
  part.next_offset = part.offset + static_cast<int64_t>(part.bytes.size());
  return part;
}

// The one asked for is then the first of chunks_.
Result<const StoredLogReader::Chunk*> StoredLogReader::load(const Folder& folder,
                                                            const RankKey& key, int64_t start) {
  const std::string name = chunk_name(start);
  const Result<FileFacts> facts = folder.facts(name);
  if (!facts.is_ok()) return facts.status();
  const auto kept = std::ranges::find_if(
      chunks_, [&](const Chunk& chunk) { return chunk.key == key && chunk.start == start; });
  Chunk chunk{.key = key, .start = start, .facts = facts.value(), .text = {}};
  if (kept != chunks_.end()) {
    const bool is_same = kept->facts.bytes == facts.value().bytes &&
                         kept->facts.changed_at == facts.value().changed_at;
    if (is_same) chunk = std::move(*kept);
    chunks_.erase(kept);
    if (is_same) {
      chunks_.push_front(std::move(chunk));
      return &chunks_.front();
    }
  }
  const Result<std::string> compressed = folder.read(name, kChunkTextBytesMax);
  if (!compressed.is_ok()) return compressed.status();
  chunk.text = gunzip(compressed.value(), kChunkTextBytesMax).text;
  chunks_.push_front(std::move(chunk));
  if (chunks_.size() > kChunksKept) chunks_.pop_back();
  return &chunks_.front();
}

}  // namespace hai
