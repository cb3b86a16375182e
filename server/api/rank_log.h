#pragma once
// Reads parts of the log of one rank: from its node, or what that cannot give from the log store.
// Once the node has failed, the store alone is asked. On the loop's thread; an answer that is to
// come is dropped with this object.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/api/log_router.h"
#include "server/api/queries.h"

namespace hai {

struct StoredLogPart;

struct LogRange {
  int64_t offset = 0;
  int64_t max_bytes = 256 << 10;  // 1 .. kMaxLogChunkBytes
  int64_t tail_bytes = 0;         // > 0: as of LogRequest
  Duration wait{0};               // for more, at the end of a live rank's log
};

struct RankLogPart {
  std::string data;
  int64_t offset = 0;  // later than asked if older bytes are nowhere any more
  int64_t next_offset = 0;
  bool end = false;  // the rank is gone, and this is the end of all that is known of its log
  // Of the log store: why it is not from the node, and up to when the log is there; no time = to
  // its end. "" = from the node.
  std::string source = {};
  std::optional<UnixTime> until = {};
};

// How far a log reaches.
struct LogExtent {
  int64_t begin = 0;     // older bytes are nowhere any more
  int64_t size = 0;      // with those
  bool is_over = false;  // it does not grow any more
};

class RankLog : public std::enable_shared_from_this<RankLog> {
 public:
  // `node` "" = it is not known. `user` is whose job it is.
  RankLog(LogRouter& router, Queries& queries, RankKey key, std::string user, std::string node);

  void read(const LogRange& range, Done<RankLogPart> done);
  void extent(Done<LogExtent> done);
  const RankKey& key() const { return key_; }
  // Whether the last read failed because of the log store itself.
  bool is_store_failing() const { return is_store_failing_; }

 private:
  void got_chunk(const LogRange& range, Done<RankLogPart> done, Result<LogChunk> result);
  void read_older(const LogRange& range, Done<RankLogPart> done, LogChunk chunk);
  void read_stored(const LogRange& range, Done<RankLogPart> done);
  void ask_store(const LogRange& range, Done<StoredLogPart> done);
  std::string why_not_node() const;

  LogRouter& router_;
  Queries& queries_;
  const RankKey key_;
  const std::string user_;
  const std::string node_;
  std::optional<Status> node_failed_;  // the log store is read instead
  bool is_store_failing_ = false;
};

// The node of a rank of an attempt; "" if it is not known any more. `names` are those of the
// attempt's nodes where they are known already. `rank` is one of the attempt's.
std::string node_of(Queries& queries, const std::vector<std::string>& names, const Attempt& attempt,
                    int rank);

// The first byte of the first line written at `since` or later; the end of the log if there is
// none. Looks at some of its lines only: clocks of nodes are taken to go forwards. Ends without an
// answer when the log is dropped.
void seek_log(const std::shared_ptr<RankLog>& log, const LogExtent& extent, UnixTime since,
              Done<int64_t> done);

}  // namespace hai
