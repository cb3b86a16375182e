// An operator's word replaces the proof that a silent node has ended its ranks: he has seen that it
// is off. Its jobs run elsewhere at once; if it was not off, they run twice.

#include <fmt/core.h>

#include "server/control/nodes/decide_report.h"
#include "server/control/verbs/decide.h"

namespace hai {

Result<CommandReply> decide(Decision& decision, const FenceNode& command, const Actor& actor) {
  if (!actor.is_operator())
    return permission_denied("{} is no operator: nodes can be changed by operators and admins",
                             actor.user);
  const Node* node = decision.state().find_node(command.node);
  if (node == nullptr) return not_found("node {} does not exist", command.node);
  if (node->liveness == Liveness::down) return CommandReply{{}, node->facts.name, "down already"};
  if (node->liveness == Liveness::up)
    return failed_precondition("node {} is up: it answers, so it has not been switched off",
                               node->facts.name);
  const std::string name = node->facts.name;
  const size_t ranks = node->occupants.size();
  decide_node_down(decision, node->id,
                   fmt::format("{} says that it is off{}{}", actor.user,
                               command.reason.empty() ? "" : ": ", command.reason));
  return CommandReply{
      {}, name, fmt::format("down; {} rank{} given up", ranks, ranks == 1 ? "" : "s")};
}

}  // namespace hai
