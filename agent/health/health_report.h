#pragma once
// The results of all checks for a person or a script.

#include <string>
#include <vector>

#include "common/health.h"

namespace hai {

std::string format_health_table(const std::vector<CheckResult>& results);
std::string format_health_json(const std::vector<CheckResult>& results);

bool has_failure(const std::vector<CheckResult>& results);

}  // namespace hai
