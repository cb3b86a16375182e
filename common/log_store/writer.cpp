#include "common/log_store/writer.h"

#include <algorithm>

#include "common/gzip/gzip.h"
#include "common/log_store/layout.h"
#include "common/log_store/reader.h"

namespace hai {

namespace {

constexpr int kLevel = 6;

// Whether what the store has under the key is the log that is to go on there.
Result<bool> is_same_log(const Folder& folder, const RankRecord& record) {
  const Result<std::string> text = folder.read(kRankRecord, kRankRecordBytesMax);
  if (text.status().code() == Code::not_found) return false;
  if (!text.is_ok()) return text.status();
  const Result<RankRecord> found = rank_record_from_json(text.value());
  return found.is_ok() && found.value().user == record.user && found.value().node == record.node;
}

}  // namespace

Result<StoredLogWriter> StoredLogWriter::resume(const LogStore& store, const RankKey& key,
                                                const RankRecord& record) {
  const FileUser user = store.use();
  StoredLogWriter writer(key, record);
  {
    const Result<Folder> folder = store.open_or_make_rank(key);
    if (!folder.is_ok()) return folder.status();
    const Result<bool> is_same = is_same_log(folder.value(), record);
    if (!is_same.is_ok()) return is_same.status();
    if (is_same.value()) {
      RETURN_IF_ERROR(writer.find_end(folder.value()));
      return writer;
    }
  }
  RETURN_IF_ERROR(store.remove_rank(key));
  const Result<Folder> folder = store.open_or_make_rank(key);
  if (!folder.is_ok()) return folder.status();
  RETURN_IF_ERROR(folder.value().replace(kRankRecord, rank_record_to_json(record)));
  return writer;
}

Status StoredLogWriter::find_end(const Folder& folder) {
  const Result<std::vector<int64_t>> starts = list_chunks(folder);
  if (!starts.is_ok()) return starts.status();
  if (starts.value().empty()) return ok();
  const std::string name = chunk_name(starts.value().back());
  const Result<std::string> compressed = folder.read(name, kChunkTextBytesMax);
  if (!compressed.is_ok()) return compressed.status();
  const Gunzipped chunk = gunzip(compressed.value(), kChunkTextBytesMax);
  if (chunk.whole_bytes < compressed.value().size()) {
    RETURN_IF_ERROR(folder.cut(name, static_cast<int64_t>(chunk.whole_bytes)));
  }
  chunk_start_ = starts.value().back();
  chunk_text_bytes_ = static_cast<int64_t>(chunk.whole_text_bytes);
  chunk_bytes_ = static_cast<int64_t>(chunk.whole_bytes);
  return ok();
}

Status StoredLogWriter::append(const LogStore& store, int64_t chunk_start, std::string_view text) {
  const FileUser user = store.use();
  const Result<Folder> folder = store.open_rank(key_);
  if (folder.status().code() == Code::not_found) {
    return aborted("{}", folder.status().message());
  }
  if (!folder.is_ok()) return folder.status();
  const bool is_new = chunk_start != chunk_start_;
  const std::string member = gzip(text, kLevel);
  if (member.empty()) return unavailable("no memory to compress a log");
  const Status appended =
      folder.value().append(chunk_name(chunk_start), is_new ? 0 : chunk_bytes_, member);
  // The folder was deleted in between, to make room.
  if (appended.code() == Code::not_found) return aborted("{}", appended.message());
  RETURN_IF_ERROR(appended);
  if (is_new) {
    chunk_start_ = chunk_start;
    chunk_text_bytes_ = chunk_bytes_ = 0;
  }
  chunk_text_bytes_ += static_cast<int64_t>(text.size());
  chunk_bytes_ += static_cast<int64_t>(member.size());
  return ok();
}

Status StoredLogWriter::drop_oldest(const LogStore& store, int64_t bytes_max) const {
  const FileUser user = store.use();
  const Result<Folder> folder = store.open_rank(key_);
  if (!folder.is_ok()) return folder.status();
  const Result<std::vector<int64_t>> starts = list_chunks(folder.value());
  if (!starts.is_ok()) return starts.status();
  int64_t bytes = 0;
  for (auto start = starts.value().rbegin(); start != starts.value().rend(); ++start) {
    const Result<FileFacts> facts = folder.value().facts(chunk_name(*start));
    if (facts.is_ok()) bytes += facts.value().bytes;
    if (bytes > bytes_max && start != starts.value().rbegin()) {
      RETURN_IF_ERROR(folder.value().remove(chunk_name(*start)));
    }
  }
  return ok();
}

Status StoredLogWriter::finish(const LogStore& store, UnixTime now) const {
  const FileUser user = store.use();
  const Result<Folder> folder = store.open_rank(key_);
  // Deleted meanwhile, to make room: there is nothing to finish.
  if (folder.status().code() == Code::not_found) return ok();
  if (!folder.is_ok()) return folder.status();
  RankRecord record = record_;
  record.ended_at = now;
  return folder.value().replace(kRankRecord, rank_record_to_json(record));
}

}  // namespace hai
