#pragma once
// What the nodes' health checks say, turned into events: what is known, and what is done about each
// fault (docs/design/0007).

#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

// Who a node's state is set by when no person has set it.
inline constexpr std::string_view kByHealth = "health";
inline constexpr std::string_view kNodeFault = "node_fault";  // kinds of incidents
inline constexpr std::string_view kMassFault = "mass_fault";

// Takes over what has changed of the node's checks. Returns how many have.
int take_checks(Decision& decision, const Session& session);

// Acts on the node's faults that nothing was done about yet: at once, but for what nodes share,
// where it waits a moment whether the others have it, too.
void decide_faults(Decision& decision, NodeId node);

// Takes the node out of service and tells how far it will be mended; the beginning of the ladder of
// decide_repair.
void begin_repair(Decision& decision, NodeId node, bool drain, const std::string& reason);

// An open incident of the node, made if there is none; its repair's from then on.
IncidentId note_node_incident(Decision& decision, NodeId node, const std::string& text);

}  // namespace hai
