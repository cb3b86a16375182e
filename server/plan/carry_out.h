#pragma once
// How a plan comes true, as events: the one way for the controller, for forecasts and for a replay.

#include <cstdint>

#include "server/model/decision.h"
#include "server/plan/plan.h"

namespace hai {

// Checks each item again: what is true no longer is left out, and the next pass sees it. The events
// are the scheduler's.
void carry_out(Decision& decision, const Plan& plan);

// Asks the live attempt to save and leave within its grace; nothing if it is leaving already.
void suspend_attempt(Decision& decision, JobId job, JobId beneficiary, const std::string& reason);

// The GPU seconds of the job's live attempt, and its user's decayed total with them.
struct AttemptUsage {
  int64_t had = 0;
  int64_t of_user = 0;
};
AttemptUsage attempt_usage(const Decision& decision, const Job& job);
// The same of one of its ranks.
AttemptUsage rank_usage(const Decision& decision, const Job& job, const Rank& rank);

}  // namespace hai
