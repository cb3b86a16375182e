#include "server/control/health/decide_health.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "server/control/attempt/attempt_flow.h"
#include "server/control/attempt/attribution.h"
#include "server/control/health/mass_fault.h"
#include "server/model/lemon_score.h"

namespace hai {
namespace {

bool is_news(const NodeHealth& health, const CheckResult& check) {
  const NodeCheck* known = health.find(check.name, check.subject);
  const bool is_well = check.verdict == CheckVerdict::ok || check.verdict == CheckVerdict::unknown;
  if (known == nullptr) return !is_well;
  const CheckResult& old = known->result;
  return old.verdict != check.verdict || old.tier != check.tier || old.at != check.at ||
         !(old.gpus == check.gpus) || !(old.kind() == check.kind());
}

std::set<JobId> jobs_hit(const Node& node, const CheckResult& fault) {
  std::set<JobId> jobs;
  for (const Occupant& occupant : node.occupants) {
    if (fault.gpus.is_empty() || !(fault.gpus & occupant.gpus).is_empty()) {
      jobs.insert(occupant.job);
    }
  }
  return jobs;
}

// Ends the attempts that use what is broken; the others get their notice by the drain.
void evict(Decision& decision, NodeId id, const CheckResult& fault) {
  const Node& node = *decision.state().find(id);
  const std::string reason = describe(fault, node);
  for (JobId job : jobs_hit(node, fault)) {
    const Attempt& attempt = *decision.state().find(job)->attempt;
    if (attempt.end) continue;
    end_attempt(decision, job, {AttemptState::failed, 0, reason, true, {id}, false});
  }
}

// Agents read the kernel's log each second, and a node's clock may be ahead: a job that was placed
// later than so long before a fault was told may have found it there.
constexpr Duration kToldLater = 5s;

// Whether no job but this one can have caused it. One that has left may have, unless the fault
// names a GPU that this job had by then, or the job had the whole node.
bool is_only_cause(const Attempt& attempt, const NodeCheck& fault) {
  const CheckResult& check = fault.result;
  const bool had_it_alone = !check.gpus.is_empty() || attempt.exclusive;
  return had_it_alone && attempt.placed_at + kToldLater <= std::min(check.at, fault.since);
}

// A program's own fault is the node's when it happens to everybody there. If several jobs may have
// caused it, it says nothing: else one person's fault would speak for his neighbours.
bool is_everybodys(Decision& decision, NodeId id, const NodeCheck& fault) {
  const Node& node = *decision.state().find(id);
  const std::set<JobId> jobs = jobs_hit(node, fault.result);
  if (jobs.size() != 1) return false;
  const Job& job = *decision.state().find(*jobs.begin());
  if (!is_only_cause(*job.attempt, fault)) return false;
  mark_by_job(decision, id, MarkKind::app_fault, fault.result.name, job);
  return witnesses_of(node, MarkKind::app_fault, decision.now()).suffice();
}

// For its story: with what helps.
std::string describe_whole(const CheckResult& check) {
  return fmt::format("{}{}{}: {}", check.name, check.subject.empty() ? "" : " ", check.subject,
                     check.summary);
}

struct Action {
  FaultAnswer answer = FaultAnswer::noted;
  std::optional<MarkKind> mark;
  bool drain = false;
  bool evict = false;
};

Action action_of(HealthTier tier) {
  switch (tier) {
    case HealthTier::evict:
      return {FaultAnswer::evict, MarkKind::evict, true, true};
    case HealthTier::drain:
      return {FaultAnswer::drain, MarkKind::drain, true, false};
    case HealthTier::validate:
      return {FaultAnswer::validate, MarkKind::validate, false, false};
    default:
      return {FaultAnswer::noted, {}, false, false};
  }
}

// A fault that is everybody's scores nothing: a validation tells whether it is the node's.
Action action_against(Decision& decision, NodeId id, const NodeCheck& fault) {
  const HealthTier tier = fault.result.tier;
  if (tier != HealthTier::app || !is_everybodys(decision, id, fault)) return action_of(tier);
  Action action = action_of(HealthTier::validate);
  action.mark.reset();
  return action;
}

void act(Decision& decision, NodeId id, const CheckResult& check, const Action& action) {
  const Node& node = *decision.state().find(id);
  decision.emit(NodeCheckHandled{id, check.name, check.subject, action.answer});
  if (action.answer == FaultAnswer::noted) return;
  const std::string reason = describe(check);
  if (action.mark) decision.emit(NodeMarked{id, *action.mark, check.name, {}});
  note_node_incident(decision, id, describe_whole(check));
  begin_repair(decision, id, action.drain, reason);
  if (action.evict) evict(decision, id, check);
  if (action.drain) reopen_recent_failures(decision, node, check);
}

}  // namespace

int take_checks(Decision& decision, const Session& session) {
  const std::vector<CheckResult>& checks = session.checks;
  const NodeHealth& health = decision.state().find(session.node)->health;
  std::vector<CheckResult> gone;
  for (const NodeCheck& known : health.checks) {
    const bool is_there = std::ranges::any_of(checks, [&](const CheckResult& check) {
      return check.name == known.result.name && check.subject == known.result.subject;
    });
    if (is_there) continue;
    gone.push_back(known.result);
    gone.back().verdict = CheckVerdict::ok;
    gone.back().summary = "not reported any more";
    gone.back().evidence.clear();
  }
  // Programs notice a cut later than it lasts: it explains what fails in the next minutes.
  std::vector<CheckResult> over = gone;
  std::ranges::copy_if(checks, std::back_inserter(over), [&](const CheckResult& check) {
    return check.verdict == CheckVerdict::ok && health.find(check.name, check.subject) != nullptr;
  });
  for (const CheckResult& check : over) {
    if (!check.kind().cuts_network) continue;
    decision.emit(NodeMarked{session.node, MarkKind::flash_cut, check.name, {}});
  }
  int changes = static_cast<int>(gone.size());
  for (CheckResult& check : gone) decision.emit(NodeCheckChanged{session.node, std::move(check)});
  for (const CheckResult& check : checks) {
    if (!is_news(health, check)) continue;
    decision.emit(NodeCheckChanged{session.node, check});
    ++changes;
  }
  return changes;
}

void decide_faults(Decision& decision, NodeId id) {
  std::vector<NodeCheck> faults;
  for (const NodeCheck& check : decision.state().find(id)->health.checks) {
    if (check.result.verdict != CheckVerdict::fail || check.done != FaultAnswer::none) continue;
    const bool waits = check.result.kind().is_shared &&
                       decision.now() - check.since < decision.knobs().fault_patience;
    if (!waits) faults.push_back(check);
  }
  for (const NodeCheck& fault : faults) {
    const Action action = action_against(decision, id, fault);
    const bool takes_out = action.answer != FaultAnswer::noted;
    if (takes_out && hold_for_mass_fault(decision, id, fault.result)) continue;
    act(decision, id, fault.result, action);
  }
}

IncidentId note_node_incident(Decision& decision, NodeId id, const std::string& text) {
  const Node& node = *decision.state().find(id);
  const IncidentId known = node.health.repair.incident;
  if (known && decision.state().incidents().contains(known)) {
    decision.emit(IncidentNoted{known, text});
    return known;
  }
  const IncidentId incident{decision.state().last_incident().value + 1};
  decision.emit(
      IncidentOpened{incident, std::string(kNodeFault), "node/" + node.facts.name, text, {id}});
  NodeRepair repair = node.health.repair;
  repair.incident = incident;
  decision.emit(NodeRepairChanged{id, std::move(repair)});
  return incident;
}

// A node that a person has taken out stays as that person wants it.
void begin_repair(Decision& decision, NodeId id, bool drain, const std::string& reason) {
  const Node& node = *decision.state().find(id);
  const bool is_ours = node.scheduling == Scheduling::open || node.scheduling_by == kByHealth;
  if (!is_ours) {
    return decision.emit(IncidentNoted{
        node.health.repair.incident, fmt::format("the node stays {} as {} wants it",
                                                 to_string(node.scheduling), node.scheduling_by)});
  }
  const bool is_draining =
      node.scheduling == Scheduling::draining || node.scheduling == Scheduling::drained;
  if (drain && !is_draining) {
    decision.emit(NodeSchedulingChanged{
        id, node.occupants.empty() ? Scheduling::drained : Scheduling::draining, reason,
        std::string(kByHealth)});
  } else if (node.scheduling == Scheduling::open) {
    decision.emit(NodeSchedulingChanged{id, Scheduling::cordoned, reason, std::string(kByHealth)});
  }
  const RepairStep step = node.health.repair.step;
  if (step == RepairStep::none || step == RepairStep::validating) {
    NodeRepair repair = node.health.repair;
    if (step == RepairStep::none) repair.round = 0;
    repair.step = RepairStep::emptying;
    repair.reason = reason;
    decision.emit(NodeRepairChanged{id, std::move(repair)});
  }
}

}  // namespace hai
