#include "server/control/health/decide_validate.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>

#include "common/fleet_statistics.h"
#include "server/control/attempt/attribution.h"
#include "server/control/health/decide_health.h"
#include "server/model/lemon_score.h"
#include "server/model/master_port.h"
#include "server/plan/eligible.h"

namespace hai {
namespace {

// Between two full validations.
constexpr int kLightChecks = 7;
constexpr std::string_view kLightCheck = "--quick";  // to hai-validator

JobSpec spec_of(const Decision& decision, const Validation& validation) {
  const Node& first = *decision.state().find(validation.nodes[0]);
  JobSpec spec;
  spec.name = "validate-" + first.facts.name;
  for (int i = 2; decision.state().find_unfinished(std::string(kValidationUser), spec.name); ++i) {
    spec.name = fmt::format("validate-{}-{}", first.facts.name, i);
  }
  spec.priority = Priority::low;
  spec.workspace = "/";
  spec.entrypoint = "hai-validator";
  spec.parameters = validation.parameters;
  spec.group = first.facts.group;
  spec.node_count = static_cast<int>(validation.nodes.size());
  spec.suspend.grace = 5s;
  spec.timeout = decision.knobs().validation_timeout;
  spec.watchdog = 0s;
  spec.is_validation = true;
  return spec;
}

// What other nodes of the model measured last.
std::vector<FleetSample> past_of(const ClusterState& state, const Node& node,
                                 const std::string& name) {
  std::vector<FleetSample> past;
  for (const auto& [id, other] : state.nodes()) {
    if (other.facts.gpu_model != node.facts.gpu_model || other.facts.gpus != node.facts.gpus ||
        other.facts.cpus != node.facts.cpus) {
      continue;
    }
    for (const NodeMeasure& measure : other.health.measured) {
      if (measure.name == name) past.push_back({other.facts.name, measure.value});
    }
  }
  return past;
}

std::string text_of(const Measurement& measurement) {
  return fmt::format("{} {}: {}", measurement.test, measurement.metric,
                     measurement.detail.empty() ? "failed" : measurement.detail);
}

bool is_idle(const Node& node) {
  return node.takes_jobs() && node.occupants.empty() && node.held.empty();
}

// So that a job that starts finds a node that was looked at not long ago.
bool is_light_check_due(const Decision& decision, const Node& node) {
  const UnixTime last = std::max(node.health.judged_at, node.health.validated_at);
  return decision.now() - last >= decision.knobs().validate_period / kLightChecks;
}

// Two of a leaf test the network between them, too.
std::vector<std::vector<NodeId>> pairs_of_leaves(const ClusterState& state,
                                                 const std::vector<NodeId>& due) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<NodeId>> leaves;
  for (NodeId id : due) {
    const NodeFacts& facts = state.find(id)->facts;
    leaves[{facts.group, facts.zone, facts.leaf}].push_back(id);
  }
  std::vector<std::vector<NodeId>> groups;
  for (const auto& [leaf, nodes] : leaves) {
    for (size_t i = 0; i < nodes.size(); i += 2) {
      groups.emplace_back(nodes.begin() + static_cast<ptrdiff_t>(i),
                          nodes.begin() + static_cast<ptrdiff_t>(std::min(i + 2, nodes.size())));
    }
  }
  return groups;
}

int running_validations(const ClusterState& state) {
  return static_cast<int>(std::ranges::count_if(
      state.live(), [&](JobId id) { return state.find(id)->spec->is_validation; }));
}

// A validation takes minutes and the job before it hours: more nodes may wait for the ends of their
// jobs than may be validated at a time.
constexpr int kWaitForJobs = 4;

// Taken out, and not validated yet. Were they not counted, a full cluster in which all nodes are
// due at once would be cordoned as a whole.
int waiting_for_validation(const ClusterState& state) {
  return static_cast<int>(std::ranges::count_if(state.nodes(), [](const auto& entry) {
    const RepairStep step = entry.second.health.repair.step;
    return step == RepairStep::emptying || step == RepairStep::validating;
  }));
}

// A validation that is in somebody's way leaves within seconds, so who comes after so many that may
// not run loses little if he is not seen.
constexpr int kWaitingLookedAt = 10'000;

// Who waits for nodes is not made to wait longer. Not for nodes wait those that are held or wait
// for a time or another job, and arrays: their tasks run.
bool is_somebody_waiting(const Decision& decision) {
  const ClusterState& state = decision.state();
  return std::ranges::any_of(std::views::take(state.waiting(), kWaitingLookedAt),
                             [&](const ClusterState::WaitingKey& key) {
                               return !not_eligible(state, *state.find(key.second), decision.now());
                             });
}

// No incident: that a week has passed is no news. One that fails opens its own.
void take_overdue(Decision& decision, std::vector<NodeId> overdue) {
  const ClusterState& state = decision.state();
  std::ranges::stable_sort(overdue, {},
                           [&](NodeId id) { return state.find(id)->health.validated_at; });
  int left = kWaitForJobs * decision.knobs().max_validations - waiting_for_validation(state);
  for (NodeId id : overdue) {
    if (left-- <= 0) return;
    begin_repair(decision, id, false, "its weekly validation is overdue");
  }
}

}  // namespace

JobId start_validation(Decision& decision, const Validation& validation) {
  const JobId id{decision.state().last_job().value + 1};
  decision.emit(JobSubmitted{id,
                             std::string(kValidationUser),
                             "",
                             std::make_shared<const JobSpec>(spec_of(decision, validation)),
                             {}});
  Placement placement;
  for (NodeId node : validation.nodes) {
    placement.push_back({node, decision.state().find(node)->all_gpus()});
  }
  decision.emit(
      AttemptPlaced{id, 1, std::move(placement), Priority::low, master_port(id, 1), true, false});
  return id;
}

void judge_validation(Decision& decision, const Job& job, size_t rank, const RankStatus& status) {
  const Node& node = *decision.state().find(job.attempt->ranks[rank].place.node);
  std::string faults;
  auto blame = [&](const std::string& text) { faults += (faults.empty() ? "" : "; ") + text; };
  std::vector<NodeMeasure> measured;
  for (const Measurement& measurement : status.measurements) {
    if (measurement.verdict == CheckVerdict::fail) blame(text_of(measurement));
    if (measurement.verdict != CheckVerdict::ok || measurement.unit.empty()) continue;
    NodeMeasure value{measurement.test + ' ' + measurement.metric, measurement.unit,
                      measurement.value, measurement.higher_is_better};
    const std::vector<FleetSample> past = past_of(decision.state(), node, value.name);
    const FleetJudgement judgement =
        judge_by_fleet({node.facts.name, measurement.value, measurement.higher_is_better, past});
    if (judgement.verdict == FleetVerdict::worse) {
      blame(fmt::format("{}: {}", value.name, judgement.summary));
    }
    measured.push_back(std::move(value));
  }
  if (faults.empty() && status.exit_code != 0) {
    blame(fmt::format("the validator ended with exit code {}", status.exit_code));
  }
  if (faults.empty() && status.measurements.empty()) {
    blame("the validator ended without a report; is it the agent's version?");
  }
  const bool passed = faults.empty();
  const std::string summary =
      passed ? fmt::format("{} measurements are as they should be", measured.size()) : faults;
  if (!passed) {
    decision.emit(NodeMarked{node.id, MarkKind::validation_failed, "", {}});
    note_node_incident(decision, node.id, "validation failed: " + summary);
  }
  const bool is_light = job.spec->parameters == kLightCheck;
  decision.emit(NodeValidated{node.id, passed, summary, std::move(measured), is_light});
  // One that was due, not part of a repair: a second one decides.
  if (!passed && node.health.repair.step == RepairStep::none) {
    begin_repair(decision, node.id, false, "validation failed: " + summary);
  }
}

void schedule_validations(Decision& decision) {
  const Knobs& knobs = decision.knobs();
  if (knobs.validate_period == Duration(0)) return;
  const ClusterState& state = decision.state();
  int left = knobs.max_validations - running_validations(state);
  std::vector<NodeId> due;
  std::vector<NodeId> overdue;
  std::vector<NodeId> light;
  for (const auto& [id, node] : state.nodes()) {
    if (!node.takes_jobs() || node.health.repair.step != RepairStep::none) continue;
    const Duration late = decision.now() - node.health.validated_at - knobs.validate_period;
    if (late >= knobs.validate_deadline) {
      overdue.push_back(id);
    } else if (late >= Duration(0)) {
      if (is_idle(node)) due.push_back(id);
    } else if (is_idle(node) && is_light_check_due(decision, node)) {
      light.push_back(id);
    }
  }
  take_overdue(decision, std::move(overdue));
  // What is overdue has to be, whoever waits.
  if (left <= 0 || (due.empty() && light.empty()) || is_somebody_waiting(decision)) return;
  for (std::vector<NodeId>& group : pairs_of_leaves(state, due)) {
    if (left-- <= 0) return;
    start_validation(decision, {std::move(group), "", "weekly"});
  }
  for (NodeId id : light) {
    if (left-- <= 0) return;
    start_validation(decision, {{id}, std::string(kLightCheck), "light"});
  }
}

}  // namespace hai
