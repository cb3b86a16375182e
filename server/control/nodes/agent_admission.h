#pragma once
// Whether an agent that dials may speak for the node whose name it bears. Two agents may bear one
// name by mistake (a copied config, a cloned machine). If the second one simply replaced the first,
// its reports, which list none of the first one's ranks, would end all that runs there.
//
//   the agent that dials is                 no agent  answers  silent  down    what is known of the
//   ──────────────────────────────────────────────────────────────────────     name's owner
//   the owner: of one data directory           in       in       in     in
//   the owner's machine, started anew          in       in       in     in
//   of a version that does not tell, or
//     the owner is of such a version           in       in       in     in
//   another one                                in     refused  refused  in
//
// The owner is who has the name's stream or, without a stream, who registered the node last, which
// is durable: a stranger that finds a new leader before the owner does is refused as well. A silent
// node is down when it has surely ended its ranks (design/0005) or an operator says so (`hai
// fence`); so a machine that replaces a broken one gets in by itself, and not a moment too early.

#include <string>
#include <string_view>

#include "common/agent_messages.h"
#include "common/knobs.h"
#include "server/control/sessions.h"
#include "server/model/decision.h"

namespace hai {

enum class OwnerState { none, answers, silent, down };

// The table above. Pure.
bool may_take_name(const AgentIdentity& owner, OwnerState owner_state,
                   const AgentIdentity& newcomer);

struct NameOwner {
  AgentIdentity identity;
  OwnerState state = OwnerState::none;
};
// Without knowing its history (lost_history.h) a leader gives no node up: then an owner that has
// been silent for as long as a loss takes to settle counts as down. The state may name one that the
// lost events have replaced, and its node could not be known before it is let in.
NameOwner owner_of_name(const ClusterState& state, const Sessions& sessions, const Knobs& knobs,
                        const std::string& name, MonoTime now, bool knows_history = true);

// Ok, or `already_exists` with who the owner is, who the newcomer, and what to do. The same text
// each time, so that who logs it can tell whether it is new.
Status check_owner(const std::string& name, const NameOwner& owner, const AgentIdentity& newcomer);

// While agents are refused there is one incident for each name: another one has it, or they say
// what cannot be (lost_history.h).
inline constexpr std::string_view kNameTaken = "name_taken";
inline constexpr std::string_view kNotBelieved = "agent_not_believed";
// So long after the last refusal it is over: an agent tries again every few seconds.
inline constexpr Duration kRefusalStands = 1min;
void decide_refused_agents(Decision& decision, const Sessions& sessions, MonoTime now);

}  // namespace hai
