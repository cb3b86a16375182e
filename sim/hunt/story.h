#pragma once
// Tells a world that breaks a promise in plain words: what it is made of, what was done to it, what
// the servers decided, which messages came late, and what was wrong in the end. Short worlds only:
// shrink first.

#include <string>

#include "sim/chaos.h"

namespace hai {

// Runs it once more. More than `lines_max` lines are cut: the earliest go first, faults last.
std::string story_of(const WorldPlan& world, const ChaosOptions& chaos, size_t lines_max = 80);

}  // namespace hai
