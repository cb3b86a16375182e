#include "proto/convert/rank_key_convert.h"

#include <limits>

#include "proto/convert/agent_convert.h"
#include "proto/convert/limits.h"

namespace hai {

void to_proto(const RankKey& key, v1::RankKey& out) {
  out.set_job(key.job.value);
  out.set_attempt(key.attempt);
  out.set_rank(key.rank);
}

Status from_proto(const v1::RankKey& message, RankKey& out) {
  RETURN_IF_ERROR(check_range("job id", message.job(), 1, std::numeric_limits<int64_t>::max()));
  RETURN_IF_ERROR(
      check_range("attempt", message.attempt(), 1, std::numeric_limits<int32_t>::max()));
  RETURN_IF_ERROR(check_range("rank", message.rank(), 0, AgentLimits::kRanksOfAttempt - 1));
  out = {JobId{message.job()}, message.attempt(), message.rank()};
  return ok();
}

}  // namespace hai
