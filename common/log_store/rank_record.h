#pragma once
// rank.json of the log store: whose log a folder holds. Without it nobody is shown the log.

#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "common/time.h"

namespace hai {

struct RankRecord {
  std::string user;                  // who submitted the job
  std::string node;                  // where the rank ran
  std::optional<UnixTime> ended_at;  // the log is whole; none = more may come
  bool operator==(const RankRecord&) const = default;
};

inline constexpr size_t kRankRecordBytesMax = 4096;

std::string rank_record_to_json(const RankRecord& record);
// Unknown keys are left out of account: a newer version may have written it.
Result<RankRecord> rank_record_from_json(std::string_view text);

}  // namespace hai
