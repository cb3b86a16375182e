#pragma once
// Deletes the logs of forgotten ranks, oldest first, when there are too many or they take too much
// room.

#include <set>
#include <string>

#include "common/id.h"

namespace hai {

struct LogKeepLimits {
  int64_t bytes_max = int64_t{10} << 30;
  int count_max = 2000;
};

// Logs of ranks in `in_use` count but are never deleted. Returns how many logs were deleted.
int delete_old_logs(const std::string& logs_root, const std::set<RankKey>& in_use,
                    LogKeepLimits limits);

}  // namespace hai
