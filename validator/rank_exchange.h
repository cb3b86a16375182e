#pragma once
// The all-reduce between the ranks of a job: bandwidth, latency, and every sum checked.

#include <vector>

#include "validator/test.h"

namespace hai::validator {

std::vector<Measurement> exchange_between_ranks(const Settings& settings);

}  // namespace hai::validator
