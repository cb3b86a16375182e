#pragma once
// What a validation of a node measured, as the agent reports it and the server judges it.

#include <string>
#include <vector>

#include "common/health.h"

namespace hai {

// One number of one test. `fail` is said on the node only for wrong results and broken hardware;
// whether a number is too low is judged against the other nodes.
struct Measurement {
  std::string test;    // "memory_bandwidth"
  std::string metric;  // "triad"
  std::string unit;    // "GB/s"
  double value = 0;
  bool higher_is_better = true;
  CheckVerdict verdict = CheckVerdict::unknown;  // ok, fail, or unknown = skipped
  std::string detail;
  bool operator==(const Measurement&) const = default;
};
inline constexpr size_t kMeasurementsMax = 64;

}  // namespace hai
