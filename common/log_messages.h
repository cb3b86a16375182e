#pragma once
// Reading the logs of one rank, as plain values. Logs are pulled: nothing is sent that nobody asked
// for, so a slow reader slows only himself. Offsets count bytes from the start of the rank's log
// and survive its rotation.

#include <cstdint>
#include <string>

#include "common/id.h"
#include "common/time.h"

namespace hai {

inline constexpr int64_t kMaxLogChunkBytes = 1 << 20;
inline constexpr Duration kMaxLogWait = 10s;

// The record of an attempt's steps is a log of its own, kept where the attempt's rank 0 runs, as
// that of a rank that no job has.
inline constexpr int kStepRecordRank = 99'999;
inline RankKey step_record_of(RankKey rank) { return {rank.job, rank.attempt, kStepRecordRank}; }
// The rank that writes a log.
inline RankKey writer_of_log(RankKey log) {
  return log.rank == kStepRecordRank ? RankKey{log.job, log.attempt, 0} : log;
}

struct LogRequest {
  RankKey key;
  int64_t offset = 0;            // first byte wanted
  int64_t max_bytes = 64 << 10;  // of data in the answer, 1 .. kMaxLogChunkBytes
  // > 0: ignore `offset` and start at most that far before the end, at the start of a line.
  int64_t tail_bytes = 0;
  // At the end of a live rank's log: wait for more, at most this long (<= kMaxLogWait).
  Duration wait{0};
  bool operator==(const LogRequest&) const = default;
};

struct LogChunk {
  std::string data;         // the bytes from `offset` on
  int64_t offset = 0;       // later than asked if older bytes were rotated away
  int64_t next_offset = 0;  // where to read on
  bool end = false;         // the rank is gone and everything was read
  std::string error;        // "" or why there is no data
  bool operator==(const LogChunk&) const = default;
};

}  // namespace hai
