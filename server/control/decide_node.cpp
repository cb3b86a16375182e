// Cordon: no new placements. Drain: the running jobs move away too. Undrain: open again.

#include "server/control/decision.h"

namespace hai {
namespace {

Result<const Node*> find_for_operator(const ClusterState& state, const Actor& actor,
                                      const std::string& name) {
  if (!actor.is_operator())
    return permission_denied("{} is no operator: nodes can be changed by operators and admins",
                             actor.user);
  const Node* node = state.find_node(name);
  if (node == nullptr) return not_found("node {} does not exist", name);
  return node;
}

Result<CommandReply> set_scheduling(Decision& decision, const Node& node, Scheduling scheduling,
                                    const std::string& reason, const Actor& actor) {
  if (node.scheduling != scheduling || node.scheduling_reason != reason) {
    decision.emit(NodeSchedulingChanged{node.id, scheduling, reason,
                                        scheduling == Scheduling::open ? "" : actor.user});
  }
  return CommandReply{{}, node.facts.name, std::string(to_string(scheduling))};
}

}  // namespace

Result<CommandReply> decide(Decision& decision, const CordonNode& command, const Actor& actor) {
  auto node = find_for_operator(decision.state(), actor, command.node);
  if (!node.is_ok()) return node.status();
  return set_scheduling(decision, *node.value(), Scheduling::cordoned, command.reason, actor);
}

Result<CommandReply> decide(Decision& decision, const DrainNode& command, const Actor& actor) {
  auto node = find_for_operator(decision.state(), actor, command.node);
  if (!node.is_ok()) return node.status();
  bool is_empty = node.value()->occupants.empty();
  return set_scheduling(decision, *node.value(),
                        is_empty ? Scheduling::drained : Scheduling::draining, command.reason,
                        actor);
}

Result<CommandReply> decide(Decision& decision, const UndrainNode& command, const Actor& actor) {
  auto node = find_for_operator(decision.state(), actor, command.node);
  if (!node.is_ok()) return node.status();
  return set_scheduling(decision, *node.value(), Scheduling::open, "", actor);
}

}  // namespace hai
