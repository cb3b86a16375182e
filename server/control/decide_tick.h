#pragma once
// What only the passing of time brings about: silent nodes, launches that never come up, attempts
// over their time limit, draining nodes that have become empty.

#include "server/control/decision.h"
#include "server/control/sessions.h"

namespace hai {

// A node that has said nothing for longer is silent: two heartbeats are missing.
Duration silence_limit(const Knobs& knobs);

// `may_give_up`: what the state says of silent nodes can be relied on.
void decide_tick(Decision& decision, Sessions& sessions, MonoTime now, bool may_give_up = true);

}  // namespace hai
