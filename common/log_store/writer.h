#pragma once
// Writes the log of one rank into the store, as its agent does: bytes are appended to the last
// chunk as gzip members, so that each can be read as soon as it is there and zcat reads all. Where
// it stands it knows from the store itself.

#include <cstdint>
#include <string_view>

#include "common/log_store/log_store.h"
#include "common/log_store/rank_record.h"

namespace hai {

class StoredLogWriter {
 public:
  // Goes on behind what the store has of this rank and deletes what a broken write left at its end.
  // The log of another user or node under that key, of a database before this one, is deleted.
  static Result<StoredLogWriter> resume(const LogStore& store, const RankKey& key,
                                        const RankRecord& record);

  const std::string& user() const { return record_.user; }
  // -1 = there is no chunk yet.
  int64_t chunk_start() const { return chunk_start_; }
  int64_t end_offset() const { return chunk_start_ + chunk_text_bytes_; }

  // `chunk_start` is the current chunk's, or a later one's that begins with this text. Not empty.
  // aborted: somebody else has changed the store, resume again.
  Status append(const LogStore& store, int64_t chunk_start, std::string_view text);
  // Deletes the oldest chunks while all together have more bytes than that; the last one stays.
  Status drop_oldest(const LogStore& store, int64_t bytes_max) const;
  // The log is whole.
  Status finish(const LogStore& store, UnixTime now) const;

 private:
  StoredLogWriter(const RankKey& key, RankRecord record) : key_(key), record_(std::move(record)) {}
  Status find_end(const Folder& folder);

  RankKey key_;
  RankRecord record_;
  int64_t chunk_start_ = -1;
  int64_t chunk_text_bytes_ = 0;
  int64_t chunk_bytes_ = 0;  // compressed
};

}  // namespace hai
