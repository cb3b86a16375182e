#include "server/control/health/decide_repair.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "server/control/attempt/attempt_flow.h"
#include "server/control/attempt/attribution.h"
#include "server/control/health/decide_health.h"
#include "server/control/health/decide_validate.h"
#include "server/control/health/mass_fault.h"
#include "server/control/node_names.h"
#include "server/model/lemon_score.h"

namespace hai {
namespace {

// After a hook, or a validation that was passed, faults have so long to go away.
constexpr Duration kClearPatience = 1min;

// Its incident may have been closed by an operator: then the story goes untold.
void note(Decision& decision, IncidentId incident, const std::string& text) {
  if (incident && decision.state().incidents().contains(incident)) {
    decision.emit(IncidentNoted{incident, text});
  }
}

void set_step(Decision& decision, NodeId id, RepairStep step, const std::string& reason) {
  NodeRepair repair = decision.state().find(id)->health.repair;
  repair.step = step;
  repair.reason = reason;
  repair.job = {};
  decision.emit(NodeRepairChanged{id, repair});
  note(decision, repair.incident, fmt::format("{}: {}", to_string(step), reason));
}

// A fault that a validation cannot answer: it stands, and is worse than a doubt.
const NodeCheck* standing_fault(const Node& node) {
  for (const NodeCheck& check : node.health.checks) {
    if (check.result.verdict != CheckVerdict::fail || check.is_settled()) continue;
    if (check.result.tier >= HealthTier::drain) return &check;
    if (check.result.tier == HealthTier::validate && !check.result.kind().is_latched) return &check;
  }
  return nullptr;
}

// What the kernel has said stays said; after this it does not count any more, and the agent is
// asked to forget it.
void settle_latched(Decision& decision, NodeId id, FaultAnswer answer) {
  std::vector<CheckResult> checks;
  for (const NodeCheck& check : decision.state().find(id)->health.checks) {
    if (check.result.verdict != CheckVerdict::fail || check.is_settled()) continue;
    const bool counts = check.result.kind().is_latched || answer == FaultAnswer::accepted;
    if (counts) checks.push_back(check.result);
  }
  for (const CheckResult& check : checks) {
    decision.emit(NodeCheckHandled{id, check.name, check.subject, answer});
  }
}

// One of several nodes ends with the last of them.
void close_incident(Decision& decision, IncidentId incident, const std::string& reason) {
  const auto& open = decision.state().incidents();
  const auto found = open.find(incident);
  if (found == open.end() || found->second.kind == kBisection) return;
  decision.emit(IncidentClosed{incident, reason});
}

void go_to_service(Decision& decision, NodeId id, const std::string& reason) {
  const Node& node = *decision.state().find(id);
  NodeRepair repair = node.health.repair;
  repair.step = RepairStep::service;
  repair.may_heal = standing_fault(node) != nullptr && !repair.is_lemon;
  repair.job = {};
  repair.reason = reason;
  decision.emit(NodeRepairChanged{id, repair});
  note_node_incident(decision, id, "service: " + reason);
  if (node.scheduling_by == kByHealth) {
    decision.emit(NodeSchedulingChanged{id, Scheduling::drained, reason, std::string(kByHealth)});
  }
}

// GPUs are reset first; whatever else is wrong, or is wrong again, needs a reboot.
RepairAction action_for(const Node& node, int round) {
  const NodeCheck* fault = standing_fault(node);
  const bool is_gpu = fault != nullptr && fault->result.kind().is_of_gpus;
  return is_gpu && round == 1 ? RepairAction::reset_gpus : RepairAction::reboot;
}

void try_hook(Decision& decision, NodeId id, const std::string& reason) {
  const Node& node = *decision.state().find(id);
  NodeRepair repair = node.health.repair;
  if (repair.round >= decision.knobs().repair_rounds) return go_to_service(decision, id, reason);
  ++repair.round;
  repair.step = RepairStep::repairing;
  repair.hook = decision.state().last_seq() + 1;  // unlike any before it
  repair.boot_id = node.facts.boot_id;
  repair.action = action_for(node, repair.round);
  repair.job = {};
  repair.reason = reason;
  decision.emit(NodeRepairChanged{id, repair});
  note(decision, repair.incident, fmt::format("{} ordered: {}", to_string(repair.action), reason));
}

void advance_emptying(Decision& decision, NodeId id) {
  const Node& node = *decision.state().find(id);
  if (!node.occupants.empty() || !node.held.empty() || node.liveness != Liveness::up) return;
  if (node.health.repair.is_lemon) {
    return go_to_service(decision, id, node.health.repair.reason);
  }
  if (const NodeCheck* fault = standing_fault(node)) {
    return try_hook(decision, id, describe(fault->result));
  }
  set_step(decision, id, RepairStep::validating, "it is empty");
}

void begin_validation(Decision& decision, NodeId id) {
  const JobId job = start_validation(decision, {{id}, "", "repair"});
  NodeRepair repair = decision.state().find(id)->health.repair;
  repair.job = job;
  decision.emit(NodeRepairChanged{id, std::move(repair)});
}

void advance_validating(Decision& decision, NodeId id) {
  const Node& node = *decision.state().find(id);
  const NodeRepair& repair = node.health.repair;
  const Job* job = repair.job ? decision.state().find(repair.job) : nullptr;
  if (job != nullptr && !job->is_terminal()) return;
  const bool is_judged = repair.job && node.health.judged_at >= repair.since;
  if (is_judged && !node.health.is_passed) return try_hook(decision, id, node.health.judgement);
  if (const NodeCheck* fault = standing_fault(node)) {
    return try_hook(decision, id, describe(fault->result));
  }
  if (is_judged) return open_again(decision, id, "validated: " + node.health.judgement);
  if (job != nullptr && job->state == JobState::failed) {
    return go_to_service(decision, id, "its validation could not run: " + job->end_reason);
  }
  if (node.liveness == Liveness::up && node.occupants.empty() && node.held.empty()) {
    begin_validation(decision, id);
  }
}

void advance_repairing(Decision& decision, const Sessions& sessions, NodeId id) {
  const Node& node = *decision.state().find(id);
  const NodeRepair repair = node.health.repair;
  const Duration taken = decision.now() - repair.since;
  const Session* session = sessions.find(id);
  const bool has_run = session != nullptr && session->hook && session->hook->id == repair.hook;
  const bool has_rebooted = node.facts.boot_id != repair.boot_id;
  if (has_run && session->hook->exit_code != 0 && !has_rebooted) {
    const std::string& message = session->hook->message;
    const std::string why = message.empty()
                                ? fmt::format("{} ended with exit code {}",
                                              to_string(repair.action), session->hook->exit_code)
                                : message;
    const std::string reason = fmt::format("{}; {}", repair.reason, why);
    // What a reset could not do, a reboot may; there is nothing beyond a reboot.
    return repair.action == RepairAction::reset_gpus ? try_hook(decision, id, reason)
                                                     : go_to_service(decision, id, reason);
  }
  if (taken > decision.knobs().hook_timeout) {
    return go_to_service(
        decision, id,
        fmt::format("{}; not mended {} after its repair was ordered", repair.reason,
                    format_duration(decision.knobs().hook_timeout)));
  }
  if (node.liveness != Liveness::up || !(has_run || has_rebooted)) return;
  settle_latched(decision, id, FaultAnswer::mended);
  const NodeCheck* fault = standing_fault(*decision.state().find(id));
  if (fault == nullptr) {
    set_step(decision, id, RepairStep::validating, "the site's hook has run");
  } else if (taken > kClearPatience) {
    try_hook(decision, id, describe(fault->result));
  }
}

// What was beyond the ladder may heal all the same, as a cable that somebody has put back.
void advance_service(Decision& decision, NodeId id) {
  const Node& node = *decision.state().find(id);
  if (!node.health.repair.may_heal || node.liveness != Liveness::up) return;
  if (standing_fault(node) != nullptr) return;
  set_step(decision, id, RepairStep::validating, "its faults are gone");
}

// Of this share of the cluster, and of each leaf, scores may take out at once; one at least. Of a
// leaf, too: what its nodes have in common, as a bad switch, counts against all of them.
constexpr size_t kLemonShare = 20;  // a twentieth

struct LemonShare {
  size_t nodes = 0;
  size_t out = 0;
  bool is_spent() const { return out >= std::max<size_t>(1, nodes / kLemonShare); }
  void add(const Node& node) {
    ++nodes;
    out += node.health.repair.is_lemon ? 1 : 0;
  }
};

using RatedLemon = std::pair<NodeId, LemonScore>;

// Those beyond the share stay.
std::vector<RatedLemon> bound_lemons(const ClusterState& state,
                                     const std::vector<RatedLemon>& lemons) {
  LemonShare cluster;
  std::map<std::string, LemonShare> leaves;
  for (const auto& [id, node] : state.nodes()) {
    if (node.removed_at) continue;
    cluster.add(node);
    leaves[leaf_of(node)].add(node);
  }
  std::vector<RatedLemon> leaving;
  for (const RatedLemon& lemon : lemons) {
    LemonShare& leaf = leaves[leaf_of(*state.find(lemon.first))];
    if (cluster.is_spent() || leaf.is_spent()) continue;
    ++cluster.out;
    ++leaf.out;
    leaving.push_back(lemon);
  }
  return leaving;
}

void take_out_lemons(Decision& decision) {
  const ClusterState& state = decision.state();
  const int limit = decision.knobs().lemon_score;
  if (limit == 0) return;
  std::vector<RatedLemon> lemons;
  for (const auto& [id, node] : state.nodes()) {
    if (node.health.marks.size() < 2 || node.health.repair.is_lemon) continue;
    if (node.scheduling != Scheduling::open && node.scheduling_by != kByHealth) continue;
    LemonScore lemon = lemon_score(node.health, decision.now(), lemon_person_max(limit));
    if (lemon.score >= limit) lemons.emplace_back(id, std::move(lemon));
  }
  if (lemons.empty()) return;
  // The worst go first.
  std::ranges::stable_sort(lemons, std::greater(),
                           [](const auto& each) { return each.second.score; });
  for (const auto& [id, lemon] : bound_lemons(state, lemons)) {
    const std::string reason =
        fmt::format("fails too often: {} points of {}: {}", lemon.score, limit, lemon.explanation);
    note_node_incident(decision, id, reason);
    begin_repair(decision, id, true, reason);
    NodeRepair repair = decision.state().find(id)->health.repair;
    repair.is_lemon = true;
    if (repair.step != RepairStep::service) repair.step = RepairStep::emptying;
    repair.reason = reason;
    repair.may_heal = false;
    decision.emit(NodeRepairChanged{id, std::move(repair)});
  }
}

// A fault of a node that was not ours to take out is over when nobody sees it any more.
void close_stale_incident(Decision& decision, NodeId id) {
  const Node& node = *decision.state().find(id);
  const IncidentId incident = node.health.repair.incident;
  if (node.health.repair.step != RepairStep::none || standing_fault(node) != nullptr) return;
  decision.emit(NodeRepairChanged{id, {}});
  close_incident(decision, incident, "its faults are gone");
}

// That of all the nodes ends when all are told apart; this node's story goes on.
void leave_shared_incident(Decision& decision, NodeId id) {
  NodeRepair repair = decision.state().find(id)->health.repair;
  repair.incident = {};
  decision.emit(NodeRepairChanged{id, std::move(repair)});
}

}  // namespace

void begin_single_validation(Decision& decision, NodeId id, const std::string& reason) {
  leave_shared_incident(decision, id);
  note_node_incident(decision, id, reason);
  set_step(decision, id, RepairStep::emptying, reason);
}

void send_to_service(Decision& decision, NodeId id, const std::string& reason) {
  decision.emit(NodeMarked{id, MarkKind::validation_failed, "bisection", {}});
  leave_shared_incident(decision, id);
  note_node_incident(decision, id, reason);
  go_to_service(decision, id, reason);
}

void open_again(Decision& decision, NodeId id, const std::string& reason) {
  settle_latched(decision, id, FaultAnswer::mended);
  const IncidentId incident = decision.state().find(id)->health.repair.incident;
  decision.emit(NodeRepairChanged{id, {}});
  if (decision.state().find(id)->scheduling_by == kByHealth) {
    decision.emit(NodeSchedulingChanged{id, Scheduling::open, "", ""});
  }
  close_incident(decision, incident, reason);
}

void decide_repairs(Decision& decision, Sessions& sessions) {
  release_held_nodes(decision);
  take_out_lemons(decision);
  std::vector<NodeId> ids;
  for (const auto& [id, node] : decision.state().nodes()) {
    const NodeRepair& repair = node.health.repair;
    if (repair.step != RepairStep::none || repair.incident) ids.push_back(id);
  }
  for (NodeId id : ids) {
    switch (decision.state().find(id)->health.repair.step) {
      case RepairStep::none:
        close_stale_incident(decision, id);
        break;
      case RepairStep::emptying:
        advance_emptying(decision, id);
        break;
      case RepairStep::validating:
        advance_validating(decision, id);
        break;
      case RepairStep::repairing:
        advance_repairing(decision, sessions, id);
        break;
      case RepairStep::bisecting:
        break;  // decide_bisect.h
      case RepairStep::service:
        advance_service(decision, id);
        break;
    }
  }
  schedule_validations(decision);
}

std::vector<OrderBody> repair_orders(const ClusterState& state, const Knobs& knobs,
                                     Session& session, UnixTime now, MonoTime mono_now) {
  std::vector<OrderBody> orders;
  if (session.repair_ordered_at != MonoTime{} &&
      mono_now - session.repair_ordered_at < knobs.resend_after) {
    return orders;
  }
  const Node& node = *state.find(session.node);
  const NodeRepair& repair = node.health.repair;
  const bool has_run = session.hook && session.hook->id == repair.hook;
  if (repair.step == RepairStep::repairing && !has_run && node.facts.boot_id == repair.boot_id) {
    const bool is_reset = repair.action == RepairAction::reset_gpus;
    orders.push_back(RunHook{repair.hook, is_reset ? HookAction::reset_gpus : HookAction::reboot,
                             repair.reason});
  }
  for (const NodeCheck& check : node.health.checks) {
    if (check.result.verdict != CheckVerdict::fail || !check.is_settled()) continue;
    if (check.result.kind().is_latched) {
      orders.push_back(ClearFault{check.result.name, check.result.subject, now});
    }
  }
  if (!orders.empty()) session.repair_ordered_at = mono_now;
  return orders;
}

void end_repair(Decision& decision, NodeId id, bool accept, const std::string& why) {
  const Node& node = *decision.state().find(id);
  const NodeRepair& repair = node.health.repair;
  const IncidentId incident = repair.incident;
  const JobId validation = repair.job;
  if (accept) {
    settle_latched(decision, id, FaultAnswer::accepted);
    if (!decision.state().find(id)->health.marks.empty()) {
      decision.emit(NodeMarked{id, MarkKind::accepted, "", {}});
    }
  }
  if (!(repair == NodeRepair{.since = repair.since})) decision.emit(NodeRepairChanged{id, {}});
  close_incident(decision, incident, why);
  // Nobody waits for its answer any more, and others may want the node.
  const Job* job = validation ? decision.state().find(validation) : nullptr;
  if (job != nullptr && job->has_live_attempt()) {
    end_attempt(decision, validation, {AttemptState::stopped, 0, why, false, {}, false});
  }
}

}  // namespace hai
