#pragma once
// Finds the bad node of several that failed together, by tests in small groups
// (common/bisection.h): pairs of them run an all-reduce, and partners change until the results name
// somebody.

#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

// Takes out those of the nodes that nobody has taken out, as one incident; the tests begin when
// they are empty, without those that are down or that keep the others waiting for too long: these
// are validated by themselves. Nothing, and false, if fewer than two are left.
bool begin_bisection(Decision& decision, const std::vector<NodeId>& nodes, const std::string& why);

// A round further, where the last one has ended; nodes that are decided leave at once. A new leader
// begins from the first round.
void decide_bisections(Decision& decision, Sessions& sessions);

}  // namespace hai
