#pragma once
// What becomes of a condition when the other job goes on.

#include "common/dependency.h"
#include "server/model/states.h"

namespace hai {

enum class DependencyFate {
  open,  // it may still be met
  met,
  never,  // it can't be met any more
};

// `has_started`: once, in any of its attempts.
DependencyFate fate_of(DependencyCondition condition, JobState state, bool has_started);

}  // namespace hai
