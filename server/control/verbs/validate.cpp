// An operator has a node validated, or several tested together.

#include "server/control/health/decide_bisect.h"
#include "server/control/health/decide_health.h"
#include "server/control/health/decide_validate.h"
#include "server/control/verbs/decide.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const ValidateNode& command, const Actor& actor) {
  if (!actor.is_operator()) {
    return permission_denied("{} is no operator: nodes are validated by operators and admins",
                             actor.user);
  }
  const Node* node = decision.state().find_node(command.node);
  if (node == nullptr) return not_found("node {} does not exist", command.node);
  const NodeId id = node->id;
  const RepairStep step = node->health.repair.step;
  if (step == RepairStep::emptying || step == RepairStep::validating) {
    return CommandReply{{}, node->facts.name, "its validation is under way already"};
  }
  if (step == RepairStep::repairing) {
    return failed_precondition("node {} is being repaired ({}), and is validated after that",
                               command.node, node->health.repair.reason);
  }
  const bool is_empty = node->occupants.empty() && node->held.empty();
  const std::string reason = std::string(kAskedFor) + " by " + actor.user;
  note_node_incident(decision, id, reason);
  NodeRepair repair = decision.state().find(id)->health.repair;
  repair.step = RepairStep::emptying;
  repair.round = 0;
  repair.is_lemon = false;
  repair.reason = reason;
  decision.emit(NodeRepairChanged{id, std::move(repair)});
  if (decision.state().find(id)->scheduling == Scheduling::open) {
    decision.emit(NodeSchedulingChanged{id, Scheduling::cordoned, reason, std::string(kByHealth)});
  }
  return CommandReply{
      {}, command.node, is_empty ? "is validated now" : "is validated when its jobs have ended"};
}

Result<CommandReply> decide(Decision& decision, const BisectNodes& command, const Actor& actor) {
  if (!actor.is_operator()) {
    return permission_denied("{} is no operator: nodes are validated by operators and admins",
                             actor.user);
  }
  std::vector<NodeId> nodes;
  for (const std::string& name : command.nodes) {
    const Node* node = decision.state().find_node(name);
    if (node == nullptr) return not_found("node {} does not exist", name);
    if (node->scheduling != Scheduling::open || node->liveness != Liveness::up) {
      return failed_precondition(
          "node {} is {} and {}: only nodes that take jobs are tested together", name,
          to_string(node->liveness), to_string(node->scheduling));
    }
    nodes.push_back(node->id);
  }
  if (nodes.size() < 2) return invalid_argument("two nodes at least are tested together");
  begin_bisection(decision, nodes, "a test together was asked for by " + actor.user);
  return CommandReply{{}, "", "are tested in groups when their jobs have ended"};
}

}  // namespace hai
