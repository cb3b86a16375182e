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

// An automatic level rises when jobs of one's own leave: what need not go then is dropped.
void drop_needless_of_auto(const ClusterState& state, const Knobs& knobs, UnixTime now,
                           const Hypothesis& hypothesis, Blockade& blockade);

}  // namespace hai
