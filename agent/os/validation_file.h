#pragma once
// What hai-validator leaves in its rank's directory.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "common/validation.h"

namespace hai {

inline constexpr size_t kValidationFileBytesMax = 1 << 20;

// As many as kMeasurementsMax; invalid_argument if it is no report.
Result<std::vector<Measurement>> measurements_from_json(std::string_view text);

}  // namespace hai
