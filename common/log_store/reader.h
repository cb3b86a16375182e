#pragma once
// Reads logs of ranks from the store by byte offset, also while their agents write them. One thread
// at a time.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/log_part.h"
#include "common/log_store/log_store.h"
#include "common/log_store/rank_record.h"

namespace hai {

struct StoredLogRequest {
  RankKey key;
  std::string user;    // whose it must be
  int64_t offset = 0;  // first byte wanted
  int64_t max_bytes = 64 << 10;
  int64_t tail_bytes = 0;  // > 0: ignore `offset` and start at most that far before the end
};

struct StoredLogPart {
  LogPart part;           // its bytes are without a gap
  bool is_whole = false;  // the rank has ended and all that it wrote is there
  UnixTime written_at{};  // when the store got its last bytes, by the storage's clock
};

class StoredLogReader {
 public:
  // not_found if the store has no log of that rank, or another user's.
  Result<StoredLogPart> read(const LogStore& store, const StoredLogRequest& request);

 private:
  struct Chunk {
    RankKey key;
    int64_t start = 0;
    FileFacts facts;
    std::string text;
  };
  // Those read last: a log is read in pieces much smaller than a chunk.
  static constexpr size_t kChunksKept = 4;

  Result<const Chunk*> load(const Folder& folder, const RankKey& key, int64_t start);
  Result<LogPart> read_part(const Folder& folder, const StoredLogRequest& request, int64_t offset,
                            int64_t max_bytes);

  std::deque<Chunk> chunks_;
};

// Where the chunks of a rank begin, ascending.
Result<std::vector<int64_t>> list_chunks(const Folder& folder);

}  // namespace hai
