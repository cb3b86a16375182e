#pragma once
// An agent's report turned into events: what its ranks did, and whether its node is there and
// clean.

#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

// Registers the node if it is new or has changed. The error is the reason to refuse the agent.
Status decide_registration(Decision& decision, Sessions& sessions, Session& session,
                           const AgentReport& report);

// Applies the ranks' statuses. The session must be registered.
void decide_report(Decision& decision, Session& session, const AgentReport& report);

// The node is silent for so long that it must have fenced itself: its ranks are lost.
void decide_node_down(Decision& decision, NodeId node, const std::string& reason);

// Ranks of the report that still run though their attempt does not want them any more.
int count_strays(const ClusterState& state, NodeId node, const Session& session);

}  // namespace hai
