#pragma once
// How much speaks against a node: what happened on it in the last 28 days, weighed. After Meta's
// lemon detection (arXiv 2410.21680 §IV), which found 1.2 % of nodes behind 13 % of the daily jobs
// by such counts.

#include <algorithm>
#include <string>

#include "common/time.h"
#include "server/model/node_health.h"

namespace hai {

inline constexpr Duration kLemonWindow = std::chrono::hours(28 * 24);

struct LemonScore {
  int score = 0;
  std::string explanation;  // "3 drain, 1 validation_failed in 28 days"; "" if there is nothing
};
// What the jobs of one person say counts `person_max` points at most, and so do together the jobs
// of which nobody remembers whose they were.
LemonScore lemon_score(const NodeHealth& health, UnixTime now, int person_max);
// Enough to look at a node, not enough to take it out: that takes `limit` points.
inline int lemon_person_max(int limit) { return std::max(1, limit / 2); }

}  // namespace hai
