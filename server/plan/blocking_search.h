#pragma once
// Which obstacles have to go so that a job finds room: few, and none that could stay.

#include <optional>
#include <vector>

#include "server/plan/hypothesis.h"

namespace hai {

struct Blockade {
  std::vector<int> obstacles;  // of the hypothesis
  std::vector<int> crossing;   // of those, the ones whose crossing of zones is in the way
  bool is_hopeless = false;    // even without all obstacles there is no room
};

// Leaves the hypothesis as it was.
Blockade find_blockade(Hypothesis& hypothesis);

}  // namespace hai
