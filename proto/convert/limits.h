#pragma once
// Checks of what came over the network, for the conversions only: each gives ok or an
// invalid_argument that names the field and the numbers.

#include <cstdint>
#include <string_view>

#include "common/status.h"
#include "common/time.h"

namespace hai {

inline constexpr Duration kMaxDuration = std::chrono::hours(24 * 3653);  // ten years
inline constexpr int64_t kMaxUnixMicros = 253'402'300'799'999'999;       // the last of year 9999

Status check_range(std::string_view field, int64_t value, int64_t low, int64_t high);
Status check_size(std::string_view field, size_t size, size_t size_max);
Status check_duration(std::string_view field, int64_t micros);
Status check_unix_time(std::string_view field, int64_t micros);
// Names of nodes, groups, zones, leaves: letters, digits, '.', '_', '-' and ':', at most 255 bytes.
Status check_name(std::string_view field, std::string_view name, bool may_be_empty);

}  // namespace hai
