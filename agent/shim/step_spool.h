#pragma once
// Keeps the record of the steps of an attempt: a log beside that of its rank 0, made with the first
// line, of some 10,000 steps; the oldest go.

#include <optional>
#include <string>
#include <string_view>

#include "agent/os/log_spool.h"
#include "common/id.h"

namespace hai {

class StepSpool {
 public:
  // `log_directory` is that of the rank `key`.
  StepSpool(std::string log_directory, const RankKey& key);
  // failed_precondition: this is not rank 0.
  Status add(std::string_view line, UnixTime now);

 private:
  const std::string log_directory_;
  const RankKey key_;
  std::optional<LogSpool> spool_;
};

}  // namespace hai
