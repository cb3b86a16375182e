#pragma once
// Amounts of memory as people write them: "64Gi", "500M", "1.5Ti", "4096".

#include <cstdint>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

// K M G T P are powers of 1000, Ki Mi Gi Ti Pi powers of 1024, a trailing B is allowed, a bare
// number is bytes. Negative or above 1,024 Pi: invalid_argument.
Result<int64_t> parse_bytes(std::string_view text);
// The shortest exact form with a power of 1024: "64Gi", "1536Mi", "1000".
std::string format_bytes(int64_t bytes);

}  // namespace hai
