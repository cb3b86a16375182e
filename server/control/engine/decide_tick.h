#pragma once
// What only the passing of time brings about: silent nodes, launches that never come up, attempts
// over their time limit, draining nodes that have become empty.

#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

// `knows_history`: nothing that was durable is missing from the state. Else what it says of silent
// nodes can't be relied on, and nothing may be placed, not even a validation.
void decide_tick(Decision& decision, Sessions& sessions, MonoTime now, bool knows_history = true);

}  // namespace hai
