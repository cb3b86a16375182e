#pragma once
// Signals by name: "SIGUSR1", "USR1" or "usr1".

#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

// The number of a signal this system knows.
Result<int> parse_signal(std::string_view text);
std::string signal_name(int signal);  // "SIGUSR1"; "signal 99" for one without a name

}  // namespace hai
