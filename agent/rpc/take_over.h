#pragma once
// A report that was not sent yet when the next one came is replaced by it. Pure.

#include "common/agent_messages.h"

namespace hai {

// Gives `next` what only `unsent` carries: a report names some things once, when they are new.
void take_over(const AgentReport& unsent, AgentReport& next);

}  // namespace hai
