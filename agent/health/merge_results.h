#pragma once
// The list of results as others see it: bounded, sorted, each (name, subject) once, and `at`
// unmoved while a result says the same. Pure.

#include <cstdint>
#include <vector>

#include "common/health.h"

namespace hai {

// Of two with one name and subject the worse stays.
std::vector<CheckResult> merge_results(std::vector<CheckResult> found,
                                       const std::vector<CheckResult>& before, UnixTime now);

// Of everything but readings: a temperature that changes within its limit changes nothing.
uint64_t digest_of(const std::vector<CheckResult>& results);

}  // namespace hai
