#pragma once
// A plan made true: each item is checked again against the state as earlier items have left it.

#include "server/control/decision.h"
#include "server/plan/plan.h"

namespace hai {

void decide_plan(Decision& decision, const Plan& plan);

}  // namespace hai
