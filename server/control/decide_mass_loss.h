#pragma once
// Many nodes silent at once say something about the network, not about the nodes: one incident,
// open from when they fell silent until each is back or surely ended (docs/contract.md, Faults).

#include "server/control/decision.h"
#include "server/control/sessions.h"

namespace hai {

inline constexpr std::string_view kMassLoss = "mass_loss";

// An incident about it is open.
bool has_mass_loss(const ClusterState& state);

void decide_mass_loss(Decision& decision, const Sessions& sessions, MonoTime now);

}  // namespace hai
