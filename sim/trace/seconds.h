#pragma once
// Times of traces and reports are seconds with a fraction.

#include <cmath>

#include "common/time.h"

namespace hai {

inline constexpr double kSecondsMax = 10.0 * 365 * 86'400;  // of any time in a file: ten years

inline Duration of_seconds(double seconds) {
  return Duration(static_cast<int64_t>(std::llround(seconds * 1e6)));
}
inline double seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

}  // namespace hai
