#pragma once
// The results of all checks for a person or a script.

#include <string>
#include <vector>

#include "common/health.h"

namespace hai {

std::string format_health_table(const std::vector<CheckResult>& results);
// Names as in `hai nodes -o json`; null where there is nothing to say.
std::string format_health_json(const std::vector<CheckResult>& results);

// Whether jobs may run here: nothing fails that is worth a validation or more. What a program did
// to itself (tiers log and app) is nothing against its node.
bool is_fit(const std::vector<CheckResult>& results);
// "fit for jobs", or what speaks against it.
std::string format_fitness(const std::vector<CheckResult>& results);

}  // namespace hai
