#pragma once
// The blast-radius guard: when many nodes of a leaf, or of the cluster, have the same fault within
// a minute, it is the switch, the file server or a rollout, and taking them all out would be the
// greater harm. Such nodes take no new jobs until the fault is over, and those they have go on.

#include "server/model/decision.h"

namespace hai {

// True if the fault of this node is one of many: then the node is held, and an incident says so.
bool hold_for_mass_fault(Decision& decision, NodeId node, const CheckResult& fault);

// Nodes whose held fault is over take jobs again, and incidents about such faults end.
void release_held_nodes(Decision& decision);

}  // namespace hai
