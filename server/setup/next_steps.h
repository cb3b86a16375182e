#pragma once

#include <string>

#include "server/setup/setup_plan.h"

namespace hai {

// What to do after a setup, as lines that can be copied. `token`: the first administrator's, if it
// was made just now; shown this once.
std::string next_steps(const SetupPlan& plan, bool is_started, const std::string& token);

}  // namespace hai
