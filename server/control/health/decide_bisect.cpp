#include "server/control/health/decide_bisect.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>

#include "common/hostlist.h"
#include "server/control/health/decide_health.h"
#include "server/control/health/decide_repair.h"
#include "server/control/health/decide_validate.h"

namespace hai {
namespace {

constexpr size_t kNodesMin = 2;
// What two nodes can get wrong only together, and what each can get wrong alone.
constexpr std::string_view kGroupTests = "--tests allreduce,gemm";

const Node* member(const Decision& decision, const std::string& name) {
  const Node* node = decision.state().find_node(name);
  const bool is_in = node != nullptr && node->health.repair.step == RepairStep::bisecting;
  return is_in ? node : nullptr;
}

bool is_ready(const Node& node) {
  return node.liveness == Liveness::up && node.occupants.empty() && node.held.empty();
}

GroupVerdict verdict_of(const Decision& decision, JobId id) {
  const Job* job = decision.state().find(id);
  if (job == nullptr) return GroupVerdict::unknown;
  if (job->state == JobState::succeeded) return GroupVerdict::passed;
  return job->state == JobState::failed ? GroupVerdict::failed : GroupVerdict::unknown;
}

// A node that somebody has taken out of it, or that is gone, is tested no more.
void drop_leavers(const Decision& decision, Bisection& bisection) {
  for (const std::string& name : bisection.question.nodes) {
    if (member(decision, name) == nullptr) bisection.decided.insert(name);
  }
}

bool has_round_ended(const Decision& decision, const Bisection& bisection) {
  return std::ranges::all_of(bisection.running, [&](const auto& group) {
    const Job* job = decision.state().find(group.first);
    return job == nullptr || job->is_terminal();
  });
}

void take_results(const Decision& decision, Bisection& bisection) {
  if (bisection.running.empty()) return;
  std::vector<GroupTest> round;
  for (const auto& [job, nodes] : bisection.running) {
    round.push_back({nodes, verdict_of(decision, job)});
  }
  bisection.question.rounds.push_back(std::move(round));
  bisection.running.clear();
}

void release(Decision& decision, Bisection& bisection, const std::vector<std::string>& names,
             const std::function<void(NodeId)>& end) {
  for (const std::string& name : names) {
    if (!bisection.decided.insert(name).second) continue;
    if (const Node* node = member(decision, name)) end(node->id);
  }
}

// All at once: whoever is known to be good is a partner of the others until then.
void finish(Decision& decision, Bisection& bisection, const BisectionStep& step) {
  release(decision, bisection, step.good,
          [&](NodeId id) { open_again(decision, id, "passed tests with others"); });
  release(decision, bisection, step.bad, [&](NodeId id) {
    send_to_service(decision, id,
                    fmt::format("{}; tests with others of them name this node: {}", bisection.why,
                                step.summary));
  });
  const std::string unclear = "tests in groups could not tell: " + step.summary;
  release(decision, bisection, step.unclear,
          [&](NodeId id) { begin_single_validation(decision, id, unclear); });
  if (decision.state().incidents().contains(bisection.incident)) {
    decision.emit(IncidentClosed{bisection.incident, step.summary});
  }
}

// A group one of whose nodes is gone gives no result.
void start_group(Decision& decision, Bisection& bisection, const std::vector<std::string>& group) {
  std::vector<NodeId> nodes;
  for (const std::string& name : group) {
    const Node* node = decision.state().find_node(name);
    if (node != nullptr && is_ready(*node)) nodes.push_back(node->id);
  }
  JobId job;
  if (nodes.size() == group.size()) {
    job = start_validation(decision, {std::move(nodes), std::string(kGroupTests), bisection.why});
  }
  bisection.running.emplace_back(job, group);
}

// False when it is over.
bool advance(Decision& decision, Bisection& bisection) {
  if (!has_round_ended(decision, bisection)) return true;
  take_results(decision, bisection);
  drop_leavers(decision, bisection);
  const BisectionStep step = next_step(bisection.question);
  if (step.groups.empty()) return finish(decision, bisection, step), false;
  for (const std::vector<std::string>& group : step.groups) start_group(decision, bisection, group);
  return true;
}

bool has_begun(const Bisection& bisection) {
  return !bisection.question.rounds.empty() || !bisection.running.empty();
}

// They are out of the group tests. Each is validated when it is up and empty.
void test_alone(Decision& decision, Bisection& bisection, std::string_view why,
                const std::function<bool(const Node&)>& is_out) {
  std::erase_if(bisection.question.nodes, [&](const std::string& name) {
    const Node& node = *member(decision, name);
    if (!is_out(node)) return false;
    begin_single_validation(decision, node.id, fmt::format("{}; {}", bisection.why, why));
    return true;
  });
}

// Those that are ready do not idle for longer than a test may take; by then the groups that another
// leader has begun have ended, too.
bool has_waited(const Decision& decision, Bisection& bisection) {
  const auto is_member_ready = [&](const std::string& name) {
    return is_ready(*member(decision, name));
  };
  if (std::ranges::all_of(bisection.question.nodes, is_member_ready)) return true;
  if (std::ranges::none_of(bisection.question.nodes, is_member_ready)) {
    bisection.idle_since.reset();
    return false;
  }
  if (!bisection.idle_since) bisection.idle_since = decision.now();
  return decision.now() - *bisection.idle_since >= decision.knobs().validation_timeout;
}

bool may_begin(Decision& decision, Bisection& bisection) {
  std::vector<std::string>& names = bisection.question.nodes;
  std::erase_if(names, [&](const std::string& name) { return member(decision, name) == nullptr; });
  test_alone(decision, bisection, "it was down before the tests in groups began",
             [](const Node& node) { return node.liveness == Liveness::down; });
  if (names.size() >= kNodesMin) {
    if (!has_waited(decision, bisection)) return false;
    test_alone(decision, bisection, "it was not free when the tests in groups began",
               [](const Node& node) { return !is_ready(node); });
  }
  if (names.size() < kNodesMin) {
    test_alone(decision, bisection, "too few are left for tests in groups",
               [](const Node&) { return true; });
  }
  return true;
}

// Those that were just taken out, or by another leader: nobody tests them yet.
void adopt_orphans(Decision& decision, Sessions& sessions) {
  std::map<std::string, std::vector<std::string>> orphans;
  for (const auto& [id, node] : decision.state().nodes()) {
    if (node.health.repair.step != RepairStep::bisecting) continue;
    const bool is_known = std::ranges::any_of(sessions.bisections, [&](const Bisection& each) {
      return std::ranges::find(each.question.nodes, node.facts.name) != each.question.nodes.end();
    });
    if (!is_known) orphans[node.health.repair.reason].push_back(node.facts.name);
  }
  for (auto& [why, names] : orphans) {
    if (names.size() < kNodesMin) {
      begin_single_validation(decision, decision.state().find_node(names[0])->id, why);
      continue;
    }
    std::ranges::sort(names);
    Bisection bisection{.why = why};
    bisection.incident = decision.state().find_node(names[0])->health.repair.incident;
    bisection.question.nodes = std::move(names);
    sessions.bisections.push_back(std::move(bisection));
  }
}

}  // namespace

bool begin_bisection(Decision& decision, const std::vector<NodeId>& nodes, const std::string& why) {
  std::vector<NodeId> members;
  std::vector<std::string> names;
  for (NodeId id : nodes) {
    const Node& node = *decision.state().find(id);
    const bool is_free = node.scheduling == Scheduling::open &&
                         node.health.repair.step == RepairStep::none &&
                         node.liveness == Liveness::up;
    if (!is_free) continue;
    members.push_back(id);
    names.push_back(node.facts.name);
  }
  if (members.size() < kNodesMin) return false;
  const IncidentId incident{decision.state().last_incident().value + 1};
  const std::string list = format_hostlist(names);
  decision.emit(IncidentOpened{incident, std::string(kBisection), "nodes/" + list,
                               why + "; tested in groups: " + list, members});
  for (NodeId id : members) {
    NodeRepair repair;
    repair.step = RepairStep::bisecting;
    repair.reason = why;
    repair.incident = incident;
    decision.emit(NodeRepairChanged{id, std::move(repair)});
    decision.emit(NodeSchedulingChanged{id, Scheduling::cordoned, why, std::string(kByHealth)});
  }
  return true;
}

void decide_bisections(Decision& decision, Sessions& sessions) {
  adopt_orphans(decision, sessions);
  std::erase_if(sessions.bisections, [&](Bisection& bisection) {
    if (!has_begun(bisection) && !may_begin(decision, bisection)) return false;
    return !advance(decision, bisection);
  });
}

}  // namespace hai
