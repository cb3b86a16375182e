// Cordon: no new placements. Drain: the running jobs move away too, with a deadline only those that
// still run then; until then the node is cordoned. Undrain: open again. Remove: of a node that is
// down, until it joins again. Set: its group, zone, leaf or labels, in place of what its agent
// says.

#include "common/hostlist.h"
#include "server/control/health/decide_repair.h"
#include "server/control/verbs/tokens.h"

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

// No certificate of the name is believed any more that was made until now, whoever made it.
void revoke_identity(Decision& decision, const std::string& name, const std::string& reason) {
  const NodeIdentity* known = decision.state().find_identity(name);
  const NodeIdentity identity = known == nullptr ? NodeIdentity{.node = name} : *known;
  decision.emit(NodeIdentitySet{revoked(identity, decision.now()), reason});
}

Status check_word(std::string_view what, const std::optional<std::string>& value,
                  bool may_be_none) {
  if (!value || (value->empty() && may_be_none) || is_node_name(*value)) return ok();
  return invalid_argument("{}: must be 1 to 255 letters, digits and . _ -, is '{}'", what,
                          value->substr(0, 255));
}

Status check_settings(const NodeSettings& settings) {
  RETURN_IF_ERROR(check_word("group", settings.group, false));
  RETURN_IF_ERROR(check_word("zone", settings.zone, true));
  RETURN_IF_ERROR(check_word("leaf", settings.leaf, true));
  if (!settings.labels) return ok();
  if (settings.labels->size() > NodeFacts::kLabelsMax) {
    return invalid_argument("labels: {}, at most {} are allowed", settings.labels->size(),
                            NodeFacts::kLabelsMax);
  }
  for (const std::string& label : *settings.labels) {
    RETURN_IF_ERROR(check_word("labels", label, false));
  }
  return ok();
}

// What is set once the command is done.
Result<NodeSettings> merged(NodeSettings settings, const SetNode& command) {
  if (command.settings.is_empty() && command.reset.empty()) {
    return invalid_argument("nothing to set: name a group, zone, leaf or labels, or what to reset");
  }
  for (const std::string& what : command.reset) {
    if (what == "group") {
      settings.group.reset();
    } else if (what == "zone") {
      settings.zone.reset();
    } else if (what == "leaf") {
      settings.leaf.reset();
    } else if (what == "labels") {
      settings.labels.reset();
    } else {
      return invalid_argument("reset: group, zone, leaf or labels, not '{}'", what.substr(0, 64));
    }
  }
  if (command.settings.group) settings.group = command.settings.group;
  if (command.settings.zone) settings.zone = command.settings.zone;
  if (command.settings.leaf) settings.leaf = command.settings.leaf;
  if (command.settings.labels) settings.labels = command.settings.labels;
  return settings;
}

// A group without a node is a slip of the pen more often than a new one.
bool is_new_group(const ClusterState& state, const std::string& group) {
  return !state.node_census().groups().contains(group);
}

}  // namespace

Result<CommandReply> decide(Decision& decision, const RemoveNode& command, const Actor& actor) {
  auto found = find_for_operator(decision.state(), actor, command.node);
  if (!found.is_ok()) return found.status();
  const Node* node = found.value();
  const std::string name = command.node;
  if (node->liveness != Liveness::down) {
    return failed_precondition(
        "node {} is {}: drain it and stop its agent, or `hai fence` it if it is off, then remove "
        "it when it is down",
        name, to_string(node->liveness));
  }
  if (!node->occupants.empty() || !node->held.empty()) {
    return failed_precondition("node {} still has or is held for jobs: remove it when they left",
                               name);
  }
  end_repair(decision, node->id, false, fmt::format("{} has removed the node", actor.user));
  revoke_identity(decision, name, command.reason);
  decision.emit(NodeRemoved{node->id, command.reason});
  return CommandReply{{}, name, "removed"};
}

Result<CommandReply> decide(Decision& decision, const SetNode& command, const Actor& actor) {
  auto found = find_for_operator(decision.state(), actor, command.node);
  if (!found.is_ok()) return found.status();
  const Node& node = *found.value();
  RETURN_IF_ERROR(check_settings(command.settings));
  const Result<NodeSettings> settings = merged(node.set, command);
  RETURN_IF_ERROR(settings.status());
  Node after = node;
  after.take_settings(settings.value());
  const bool moves = after.facts.group != node.facts.group || after.facts.zone != node.facts.zone;
  if (moves && (!node.occupants.empty() || !node.held.empty())) {
    return failed_precondition(
        "node {}: jobs are on it or wait for it, and its group and zone change only when they are "
        "gone: `hai drain {}` first",
        command.node, command.node);
  }
  std::string message = after.set.text();
  if (message.empty()) message = "as its agent says";
  if (is_new_group(decision.state(), after.facts.group)) {
    message += fmt::format("; {} is a new group", after.facts.group);
  }
  if (after.set == node.set) return CommandReply{{}, command.node, message + " already"};
  decision.emit(NodeSet{node.id, settings.value(), command.reason});
  return CommandReply{{}, command.node, message};
}

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
