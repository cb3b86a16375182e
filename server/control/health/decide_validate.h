#pragma once
// Validations: jobs of the platform's own that run the node's validator, put on their nodes without
// the planner. They never wait: one that cannot end by itself is over, and another is made later.

#include "server/model/decision.h"

namespace hai {

inline constexpr std::string_view kValidationUser = "hai";
inline constexpr std::string_view kAskedFor = "validation asked for";

struct Validation {
  std::vector<NodeId> nodes;  // all free of jobs
  std::string parameters;     // of hai-validator
  std::string reason;
};
// Submits and places it in one; the job's number.
JobId start_validation(Decision& decision, const Validation& validation);

// What the validation of one node measured, judged by itself and by the fleet.
void judge_validation(Decision& decision, const Job& job, size_t rank, const RankStatus& status);

// The rolling schedule: starts validations that are due on nodes that nobody needs, at most
// max_validations, and takes out nodes whose validation is overdue.
void schedule_validations(Decision& decision);

}  // namespace hai
