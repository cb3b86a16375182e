#pragma once
// Where things are in the log store. Every part of a path is a number that the server gave, so
// nobody can steer it by a name:
//
//   ROOT/.hai-log-store            the cluster whose store this is
//   ROOT/17/17042/2.0/rank.json    of rank 0 of attempt 2 of job 17042: whose it is
//   ROOT/17/17042/2.0/0000000008388608.gz   its log from that byte on
//
// A chunk has the bytes of one log file of the node, as gzip members one after the other.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/id.h"

namespace hai {

inline constexpr const char* kStoreMark = ".hai-log-store";
inline constexpr const char* kRankRecord = "rank.json";
// Of one chunk; log files of nodes have 8 MiB and, on a full disk, grow beyond.
inline constexpr int64_t kChunkTextBytesMax = 64 << 20;

std::string thousand_folder(JobId job);  // "17" has jobs 17000 to 17999
std::string job_folder(JobId job);
std::string rank_folder(const RankKey& key);  // "2.0", below the job's
std::string chunk_name(int64_t start);

// The reverse, exactly: nullopt for whatever is not such a name.
std::optional<int64_t> parse_thousand_folder(std::string_view name);
std::optional<JobId> parse_job_folder(std::string_view name);
std::optional<RankKey> parse_rank_folder(JobId job, std::string_view name);
std::optional<int64_t> parse_chunk_name(std::string_view name);

}  // namespace hai
