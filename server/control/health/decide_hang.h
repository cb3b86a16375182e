#pragma once
// Jobs that hang: all their ranks are silent, and the machines say the same. Signs come from the
// agents (common/hang_signs.h); here they become a verdict about the whole job.

#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

inline constexpr std::string_view kHang = "hang";  // kind of incident

// Ends attempts that hang, as nobody's fault but of the node of the rank that stopped first; what
// their processes were doing is written down before they are killed. Where no rank stopped first,
// the nodes are tested in groups, within what one person's programs may take out (decide_hang.cpp).
void decide_hangs(Decision& decision, Sessions& sessions);

}  // namespace hai
