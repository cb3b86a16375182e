#pragma once
// Signals by name, as jobs ask for them in `suspend.signal`.

#include <string_view>

#include "common/status.h"

namespace hai {

// "SIGUSR1" or "USR1"; "" is 0, no signal.
Result<int> parse_signal(std::string_view name);

}  // namespace hai
