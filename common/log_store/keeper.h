#pragma once
// Keeps the log store within its limits: logs that are too old go, and of users who have too much
// the oldest ones. Logs of attempts that have not ended are never deleted. Two servers may do this
// at once: they choose the same logs, and one that is gone is gone.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/log_store/log_store.h"

namespace hai {

struct LogKeepRules {
  Duration keep{24h * 30};                 // since the last byte came
  int64_t user_bytes = int64_t{20} << 30;  // of one user, compressed
};

// The log of one rank in the store.
struct StoredLog {
  RankKey key;
  std::string user;  // "" = its record cannot be read
  int64_t bytes = 0;
  UnixTime written_at{};
  bool is_live = false;  // its attempt has not ended
};

struct SweepResult {
  int64_t logs = 0;  // that are left
  int64_t bytes = 0;
  int64_t logs_deleted = 0;
  int64_t bytes_deleted = 0;
};

// What has to go, oldest first. Pure.
std::vector<StoredLog> logs_to_delete(std::vector<StoredLog> logs, const LogKeepRules& rules,
                                      UnixTime now);

Result<std::vector<StoredLog>> list_logs(const LogStore& store,
                                         const std::function<bool(const RankKey&)>& is_live);

// One look through the whole store.
Result<SweepResult> sweep_logs(const LogStore& store, const LogKeepRules& rules, UnixTime now,
                               const std::function<bool(const RankKey&)>& is_live);

}  // namespace hai
