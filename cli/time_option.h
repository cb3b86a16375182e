#pragma once
// Options that take a time, or how long from now it is.

#include <string>
#include <string_view>

#include "common/status.h"
#include "common/time.h"

namespace hai::cli {

enum class FromNow { ahead, ago };

// "2h" or "2026-11-20T08:00:00Z" (RFC 3339). invalid_argument names the option and says how to
// write it.
Result<UnixTime> read_time_option(std::string_view option, const std::string& text, FromNow way);

}  // namespace hai::cli
