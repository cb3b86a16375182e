#pragma once
// Many nodes silent at once say something about the network, not about the nodes: one incident,
// open from when they fell silent until each is back or given up by a person: removed, or the
// incident closed (docs/contract.md, Faults).

#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

void decide_mass_loss(Decision& decision, const Sessions& sessions, MonoTime now);

}  // namespace hai
