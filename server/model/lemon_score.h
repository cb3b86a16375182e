#pragma once
// How much speaks against a node: what happened on it in the last 28 days, weighed. After Meta's
// lemon detection (arXiv 2410.21680 §IV), which found 1.2 % of nodes behind 13 % of the daily jobs
// by such counts.

#include <functional>
#include <string>

#include "common/time.h"
#include "server/model/node_health.h"

namespace hai {

inline constexpr Duration kLemonWindow = std::chrono::hours(28 * 24);

struct LemonScore {
  int score = 0;
  std::string explanation;  // "3 drain, 1 validation_failed in 28 days"; "" if there is nothing
};
LemonScore lemon_score(const NodeHealth& health, UnixTime now);

// The same, but what the jobs of one person say counts `per_person_max` points at most: enough to
// look at a node, not enough to take it out. `owner` names the person of a job.
int lemon_points(const NodeHealth& health, UnixTime now, int per_person_max,
                 const std::function<std::string(JobId)>& owner);

}  // namespace hai
