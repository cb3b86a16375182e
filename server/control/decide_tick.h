#pragma once
// What only the passing of time brings about: silent nodes, launches that never come up, attempts
// over their time limit, draining nodes that have become empty.

#include "server/control/decision.h"
#include "server/control/sessions.h"

namespace hai {

void decide_tick(Decision& decision, const Sessions& sessions, MonoTime now);

}  // namespace hai
