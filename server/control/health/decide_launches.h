#pragma once
// Nodes on which jobs of several people cannot start, though they start elsewhere.

#include "server/model/decision.h"

namespace hai {

// Takes such nodes out, to be validated before they take jobs again.
void decide_launches(Decision& decision);

}  // namespace hai
