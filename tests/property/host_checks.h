#pragma once
// What jobs without GPUs must not do to those with.

#include "tests/support/builders.h"

namespace hai::test {

// The plan for jobs with GPUs is the same, to the GPU, if those that wait without had never come.
// False if none waits.
bool expect_waiting_ones_change_nothing(const Cluster& c);

// The first job with GPUs that would start if no job without them were there starts all the same,
// or a place is held for it that only jobs without GPUs have to leave, and such as leave already.
// False if there is no such job.
bool expect_first_is_not_delayed(const Cluster& c);

}  // namespace hai::test
