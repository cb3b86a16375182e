#pragma once
// The log of one rank of one attempt, piece by piece. Only its owner and operators read it, and
// those whom the job shares its logs with. With `follow` it waits for a job that has not started,
// for more while the rank lives, and for a node that is away; otherwise it ends where the log ends
// now, or after `max_bytes`. What its node cannot give comes from the log store, if there is one.

#include <optional>
#include <string>

#include "server/api/log_router.h"
#include "server/api/queries.h"
#include "server/api/rank_log.h"

namespace hai {

class Loop;

struct LogTailRequest {
  std::string job;  // id or name
  int attempt = 0;  // 0 = the latest
  int rank = 0;
  int64_t offset = 0;      // negative = from the start of what is kept
  int64_t tail_bytes = 0;  // > 0: so many before the end instead of `offset`
  // The first line written then or later, instead of `offset`.
  std::optional<UnixTime> since = {};
  int64_t max_bytes = 0;  // > 0: so many, and the first piece says how far the log reaches
  bool follow = false;
  bool steps = false;     // the record of the attempt's steps instead of what its rank 0 wrote
  bool announce = false;  // the first piece comes at once, empty, when the job is found
};

struct LogPiece {
  std::string data;
  int64_t offset = 0;
  int attempt = 0;
  int rank = 0;
  bool end = false;  // the last one
  // Of the first piece that does not come from the node: why, and up to when the log is there; no
  // time = to its end.
  std::string source = {};
  std::optional<UnixTime> until = {};
  std::optional<LogExtent> extent = {};  // of the first piece where `max_bytes` was said
};

// On the loop's thread.
Source<LogPiece> tail_log(Loop& loop, Queries& queries, LogRouter& router, Caller caller,
                          LogTailRequest request);

}  // namespace hai
