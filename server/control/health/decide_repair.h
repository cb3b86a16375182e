#pragma once
// The ladder on which a node comes back, a step a tick: it empties, is validated, and takes jobs
// again; or the site's hook resets or reboots it and it is validated anew; or it goes to service.

#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

// Advances every node whose repair is under way, takes lemons out, and closes incidents that are
// over.
void decide_repairs(Decision& decision, Sessions& sessions);

// The ladder from its second step on.
void begin_single_validation(Decision& decision, NodeId node, const std::string& reason);
// Ends of a repair that others decide: a person has to look at the node; or it takes jobs again.
void send_to_service(Decision& decision, NodeId node, const std::string& reason);
void open_again(Decision& decision, NodeId node, const std::string& reason);

// What the agent of the session should do for the repair of its node: a hook to run, faults to
// forget. Sent until its reports show that it has been done.
std::vector<OrderBody> repair_orders(const ClusterState& state, const Knobs& knobs,
                                     Session& session, UnixTime now, MonoTime mono_now);

// A person takes the node over: its repair ends, and with `accept` what stands against it does not
// count any more.
void end_repair(Decision& decision, NodeId node, bool accept, const std::string& why);

}  // namespace hai
