// Cordon: no new placements. Drain: the running jobs move away too, with a deadline only those that
// still run then; until then the node is cordoned. Undrain: open again.

#include "server/control/health/decide_repair.h"
#include "server/control/verbs/decide.h"

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
                                    const std::string& reason, const Actor& actor,
                                    std::optional<UnixTime> drain_at = {}) {
  end_repair(decision, node.id, scheduling == Scheduling::open,
             fmt::format("{} has set the node {}", actor.user, to_string(scheduling)));
  if (node.scheduling != scheduling || node.scheduling_reason != reason ||
      node.drain_at != drain_at) {
    decision.emit(NodeSchedulingChanged{
        node.id, scheduling, reason, scheduling == Scheduling::open ? "" : actor.user, drain_at});
  }
  return CommandReply{{}, node.facts.name, std::string(to_string(scheduling))};
}

constexpr Duration kDeadlineMax = 366 * 24h;

Status check_deadline(UnixTime deadline, UnixTime now) {
  if (deadline > now + kDeadlineMax)
    return invalid_argument("deadline: {} is over a year ahead; name one within 366 days",
                            format_rfc3339(deadline));
  if (deadline > now) return ok();
  return invalid_argument("deadline: {} is over; name a time to come", format_rfc3339(deadline));
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
  if (command.deadline) {
    if (Status status = check_deadline(*command.deadline, decision.now()); !status.is_ok())
      return status;
  }
  const bool is_empty = node.value()->occupants.empty();
  if (command.deadline && !is_empty) {
    Result<CommandReply> reply = set_scheduling(decision, *node.value(), Scheduling::cordoned,
                                                command.reason, actor, command.deadline);
    if (reply.is_ok()) {
      reply.value().message = fmt::format("cordoned, and drained when its jobs have ended or at {}",
                                          format_rfc3339(*command.deadline));
    }
    return reply;
  }
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
