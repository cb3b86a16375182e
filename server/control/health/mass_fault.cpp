#include "server/control/health/mass_fault.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "server/control/attempt/attribution.h"
#include "server/control/health/decide_health.h"
#include "server/control/node_names.h"

namespace hai {
namespace {

constexpr Duration kSameTime = 1min;
const std::string kWholeCluster = "the cluster";

bool is_programs(const CheckResult& fault) { return fault.tier < HealthTier::validate; }

// A program's own fault says nothing of the machine's under the same name: an Xid 31 of an Xid 79.
bool are_alike(const CheckResult& a, const CheckResult& b) {
  return a.name == b.name && is_programs(a) == is_programs(b);
}

// Who has the same fault as `fault`, and since about when it has it; no more than `at_most` of
// them.
std::vector<NodeId> sharers(const Decision& decision, const CheckResult& fault, UnixTime since,
                            size_t at_most) {
  std::vector<NodeId> nodes;
  for (const auto& [id, node] : decision.state().nodes()) {
    if (nodes.size() == at_most) break;
    const bool shares = std::ranges::any_of(node.health.checks, [&](const NodeCheck& check) {
      const Duration apart = check.since > since ? check.since - since : since - check.since;
      return are_alike(check.result, fault) && check.result.verdict == CheckVerdict::fail &&
             !check.is_settled() && apart <= kSameTime;
    });
    if (shares) nodes.push_back(id);
  }
  return nodes;
}

const Incident* find_incident(const ClusterState& state, const std::string& subject) {
  for (const auto& [id, incident] : state.incidents()) {
    if (incident.kind == kMassFault && incident.subject == subject) return &incident;
  }
  return nullptr;
}

void note(Decision& decision, const std::string& where, const CheckResult& fault,
          std::vector<NodeId> nodes) {
  const ClusterState& state = decision.state();
  const std::string subject = fault.name + '@' + where;
  const Incident* known = find_incident(state, subject);
  if (known != nullptr) {
    nodes.insert(nodes.end(), known->nodes.begin(), known->nodes.end());
    std::ranges::sort(nodes);
    nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
    if (nodes.size() == known->nodes.size()) return;
  }
  const std::string summary = fmt::format(
      "{} of {} nodes of {} at once ({}): what they share is suspected; they take no new jobs, and "
      "those they have go on",
      fault.name, nodes.size(), where, names_of(state, nodes));
  if (known != nullptr) return decision.emit(IncidentChanged{known->id, summary, nodes});
  decision.emit(IncidentOpened{
      {state.last_incident().value + 1}, std::string(kMassFault), subject, summary, nodes});
}

bool is_held(const Node& node) {
  return std::ranges::any_of(
      node.health.checks, [](const NodeCheck& check) { return check.done == FaultAnswer::hold; });
}

// When most of them are well again, those that are not have a fault of their own: they are judged
// anew, else nobody would ever mend them.
void judge_rest_anew(Decision& decision, const Incident& incident) {
  const auto limit = static_cast<size_t>(decision.knobs().mass_fault_nodes);
  std::vector<std::pair<NodeId, CheckResult>> rest;
  std::set<NodeId> held;
  for (NodeId id : incident.nodes) {
    for (const NodeCheck& check : decision.state().find(id)->health.checks) {
      if (check.done != FaultAnswer::hold || !incident.subject.starts_with(check.result.name + '@'))
        continue;
      if (sharers(decision, check.result, check.since, limit).size() == limit) return;
      rest.emplace_back(id, check.result);
      held.insert(id);
    }
  }
  if (2 * held.size() > incident.nodes.size()) return;
  for (const auto& [id, check] : rest) {
    // A program's fault that so many have had at once was the program's.
    decision.emit(NodeCheckHandled{id, check.name, check.subject,
                                   is_programs(check) ? FaultAnswer::noted : FaultAnswer::none});
  }
}

// Whether an incident here counts this node among those that have the fault: then nobody need be
// looked for again. Were all looked for by each of them, a fault of a whole cluster would cost
// nodes².
bool is_counted(const ClusterState& state, const std::string& where, NodeId id,
                const CheckResult& fault, UnixTime since) {
  const Incident* incident = find_incident(state, fault.name + '@' + where);
  if (incident == nullptr || since > incident->opened_at) return false;
  const auto is_held_alike = [&](NodeId other) {
    return std::ranges::any_of(state.find(other)->health.checks, [&](const NodeCheck& check) {
      return check.done == FaultAnswer::hold && are_alike(check.result, fault);
    });
  };
  return std::ranges::find(incident->nodes, id) != incident->nodes.end() &&
         std::ranges::any_of(incident->nodes, is_held_alike);
}

void hold(Decision& decision, NodeId id, const CheckResult& fault) {
  decision.emit(NodeCheckHandled{id, fault.name, fault.subject, FaultAnswer::hold});
  if (decision.state().find(id)->scheduling == Scheduling::open) {
    decision.emit(
        NodeSchedulingChanged{id, Scheduling::cordoned, describe(fault), std::string(kByHealth)});
  }
}

}  // namespace

bool hold_for_mass_fault(Decision& decision, NodeId id, const CheckResult& fault) {
  const ClusterState& state = decision.state();
  const Node& node = *state.find(id);
  const UnixTime since = node.health.find(fault.name, fault.subject)->since;
  const std::string leaf = "leaf " + leaf_of(node);
  if (is_counted(state, leaf, id, fault, since) ||
      is_counted(state, kWholeCluster, id, fault, since)) {
    hold(decision, id, fault);
    return true;
  }
  std::vector<NodeId> all = sharers(decision, fault, since, SIZE_MAX);
  std::vector<NodeId> of_leaf;
  std::ranges::copy_if(all, std::back_inserter(of_leaf),
                       [&](NodeId other) { return leaf_of(*state.find(other)) == leaf_of(node); });
  const Knobs& knobs = decision.knobs();
  const auto limit = static_cast<size_t>(knobs.mass_fault_nodes);
  const size_t share = state.present_nodes() * static_cast<size_t>(knobs.mass_loss_permille) / 1000;
  if (of_leaf.size() >= limit) {
    note(decision, leaf, fault, std::move(of_leaf));
  } else if (all.size() >= std::max(limit, share)) {
    note(decision, kWholeCluster, fault, std::move(all));
  } else {
    return false;
  }
  hold(decision, id, fault);
  return true;
}

void release_held_nodes(Decision& decision) {
  const ClusterState& state = decision.state();
  std::vector<Incident> mass;
  for (const auto& [id, incident] : state.incidents()) {
    if (incident.kind == kMassFault) mass.push_back(incident);
  }
  for (const Incident& incident : mass) judge_rest_anew(decision, incident);
  std::vector<IncidentId> over;
  for (const auto& [id, incident] : state.incidents()) {
    if (incident.kind != kMassFault) continue;
    bool any = false;
    for (NodeId node_id : incident.nodes) {
      const Node& node = *state.find(node_id);
      if (is_held(node)) {
        any = true;
      } else if (node.scheduling == Scheduling::cordoned && node.scheduling_by == kByHealth &&
                 node.health.repair.step == RepairStep::none) {
        decision.emit(NodeSchedulingChanged{node_id, Scheduling::open, "", ""});
      }
    }
    if (!any) over.push_back(id);
  }
  for (IncidentId id : over) {
    decision.emit(IncidentClosed{id, "the fault is over on all of them"});
  }
}

}  // namespace hai
