#include "agent/os/log_upload.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "agent/os/files.h"
#include "agent/os/log_spool.h"
#include "agent/os/rank_directory.h"

namespace hai {

namespace {

constexpr int64_t kPieceBytes = 1 << 20;
constexpr Duration kProbePeriod = 1min;
// Each costs some fifteen operations of the storage, even if it has written nothing: a pass that
// takes long looks like storage that hangs.
constexpr int kRanksPerPass = 100;

// At most `max` bytes of a log file from `from` on; "" at its end. Ranks of an agent that is not
// root could put links into their log's folder.
Result<std::string> read_piece(const std::string& path, int64_t from, int64_t max) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.is_open() && (errno == ENOENT || errno == ELOOP)) return not_found("no log {}", path);
  if (!fd.is_open()) return internal("cannot read log {}: {}", path, errno_text(errno));
  std::string text(static_cast<size_t>(max), '\0');
  ssize_t got = 0;
  do {
    got = ::pread(fd.get(), text.data(), text.size(), from);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return internal("cannot read log {}: {}", path, errno_text(errno));
  text.resize(static_cast<size_t>(got));
  return text;
}

}  // namespace

UploadResult LogUpload::pass(const std::vector<RankToUpload>& ranks, int64_t bytes_max,
                             MonoTime now, UnixTime wall_now) {
  UploadResult result;
  std::map<RankKey, Progress> kept;
  std::vector<const RankToUpload*> due;
  for (const RankToUpload& rank : ranks) {
    Progress& progress = kept[rank.key];
    if (auto found = progress_.find(rank.key); found != progress_.end()) {
      progress = std::move(found->second);
    }
    if (!rank.is_live || now >= progress.next_at) due.push_back(&rank);
  }
  progress_ = std::move(kept);
  if (due.empty() && now < next_probe_) return result;
  result.has_looked = true;
  next_probe_ = now + kProbePeriod;
  const Result<LogStore> store = LogStore::open(options_.store);
  if (!store.is_ok()) {
    result.status = store.status();
    return result;
  }

  const auto first =
      std::ranges::find_if(due, [&](const RankToUpload* rank) { return rank->key >= first_; });
  std::rotate(due.begin(), first, due.end());
  int64_t bytes_left = bytes_max;
  int looked_at = 0;
  for (const RankToUpload* rank : due) {
    if (!is_on_disk(*rank)) {
      // Nothing of it can be brought: not yet, as of a record of steps, or not any more.
      if (!rank->is_live) result.done.push_back(rank->key);
      continue;
    }
    if (bytes_left <= 0 || ++looked_at > kRanksPerPass) {
      result.is_all = false;
      first_ = rank->key;
      break;
    }
    Progress& progress = progress_[rank->key];
    Result<bool> is_all = upload(store.value(), *rank, progress, bytes_left);
    if (is_all.is_ok() && is_all.value() && !rank->is_live) {
      const Status finished = progress.writer->finish(store.value(), wall_now);
      if (finished.is_ok()) result.done.push_back(rank->key);
      if (!finished.is_ok()) is_all = finished;
    }
    if (!is_all.is_ok()) {
      progress.writer.reset();
      if (result.status.is_ok()) result.status = is_all.status();
      // Storage that is full or away is so for all of them; if it was this log's own trouble, the
      // others come first the next time.
      first_ = {rank->key.job, rank->key.attempt, rank->key.rank + 1};
      if (is_all.status().code() != Code::aborted) break;
    } else if (is_all.value()) {
      progress.next_at = now + options_.every;
    } else {
      result.is_all = false;
    }
  }
  result.bytes = bytes_max - bytes_left;
  return result;
}

bool LogUpload::is_on_disk(const RankToUpload& rank) const {
  std::error_code error;
  return std::filesystem::exists(log_directory(options_.data_dir, rank.key), error) || error;
}

Result<bool> LogUpload::upload(const LogStore& store, const RankToUpload& rank, Progress& progress,
                               int64_t& bytes_left) {
  if (progress.writer && progress.writer->user() != rank.user) progress.writer.reset();
  if (!progress.writer) {
    Result<StoredLogWriter> writer = StoredLogWriter::resume(
        store, rank.key, {.user = rank.user, .node = options_.node, .ended_at = {}});
    if (!writer.is_ok()) return writer.status();
    progress.writer = std::move(writer).value();
  }
  return upload_files(store, rank.key, *progress.writer, bytes_left);
}

Result<bool> LogUpload::upload_files(const LogStore& store, const RankKey& key,
                                     StoredLogWriter& writer, int64_t& bytes_left) {
  const std::string directory = log_directory(options_.data_dir, key);
  for (const int64_t start : list_log_files(directory)) {
    if (start < writer.chunk_start()) continue;
    int64_t at = start == writer.chunk_start() ? writer.end_offset() - start : 0;
    const std::string path = directory + "/" + log_file_name(start);
    for (;;) {
      if (bytes_left <= 0) return false;
      const Result<std::string> text = read_piece(path, at, std::min(bytes_left, kPieceBytes));
      if (text.status().code() == Code::not_found) break;  // rotated away since it was listed
      // This log's own trouble: the others go on, and it is not called whole.
      if (!text.is_ok()) return aborted("{}", text.status().message());
      if (text.value().empty()) break;
      const bool begins_chunk = start != writer.chunk_start();
      RETURN_IF_ERROR(writer.append(store, start, text.value()));
      if (begins_chunk) RETURN_IF_ERROR(writer.drop_oldest(store, options_.rank_bytes));
      at += static_cast<int64_t>(text.value().size());
      bytes_left -= static_cast<int64_t>(text.value().size());
    }
  }
  return true;
}

}  // namespace hai
