#include "server/control/engine/views.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "server/model/lemon_score.h"
#include "server/plan/capacity.h"

namespace hai {
namespace {

// Why the attempt ends or is asked to leave, and whom its end waits for: a silent node's ranks
// count as gone only when the node must have fenced itself.
std::string attempt_note(const ClusterState& state, const Attempt& attempt) {
  if (!attempt.end) return attempt.suspend_reason;
  std::string note = attempt.end->reason;
  if (!attempt.is_live()) return note;
  for (const Rank& rank : attempt.ranks) {
    const Node* node = state.find(rank.place.node);
    if (is_gone(rank.state) || node == nullptr || node->liveness == Liveness::up) continue;
    note += fmt::format("; waits until {} ({}) is sure to run nothing of it", node->facts.name,
                        node->liveness_reason);
    break;
  }
  return note;
}

}  // namespace

PendingReason waiting_reason(const ClusterState& state, const Job& job, const SoftFacts& soft) {
  if (job.is_held_by_limit()) return {PendingCode::array, job.hold_reason};
  if (job.held) return {PendingCode::held, job.hold_reason.empty() ? "held" : job.hold_reason};
  PendingReason reason{PendingCode::not_considered, "the next planning pass will look at it"};
  if (soft.planner != nullptr) reason = soft.planner->pending_reason(state, job);
  if (reason.code == PendingCode::not_considered && soft.is_listening) {
    return {PendingCode::recovering,
            "the server has just taken over and waits for the nodes to report"};
  }
  return reason;
}

JobView view_job(const ClusterState& state, const Job& job, const SoftFacts& soft) {
  JobView view;
  view.id = job.id.value;
  view.name = job.spec->name;
  view.user = job.user;
  view.group = job.spec->zone.empty() ? job.spec->group : job.spec->group + "#" + job.spec->zone;
  view.priority = job.priority;
  view.state = job.state;
  view.held = job.held;
  view.node_count = job.spec->node_count;
  view.gpus_per_node = job.spec->gpus_per_node;
  view.submitted_at = job.submitted_at;
  view.started_at = job.started_at;
  view.ended_at = job.ended_at;
  view.attempt = job.attempt_number();
  if (job.is_waiting()) view.pending_reason = waiting_reason(state, job, soft);
  if (job.is_terminal()) view.exit_code = job.exit_code;
  view.end_reason = job.end_reason;
  view.counters = job.counters;
  view.checkpoint = job.checkpoint;
  view.whole_life_state = job.whole_life_state;
  view.spec = job.spec;
  view.array_task = job.array_task;
  view.array = job.array;
  if (soft.progress != nullptr) {
    auto it = soft.progress->find(job.id);
    if (it != soft.progress->end()) view.progress_step = it->second;
  }
  if (!job.attempt) return view;
  view.attempt_state = to_string(job.attempt->state);
  view.last_attempt_reason = attempt_note(state, *job.attempt);
  view.suspend_deadline = job.attempt->suspend_deadline;
  if (job.has_live_attempt()) view.running_at = job.attempt->running_at;
  if (job.has_live_attempt() || job.is_terminal()) {
    for (const Rank& rank : job.attempt->ranks) {
      const Node* node = state.find(rank.place.node);
      view.nodes.push_back(node == nullptr ? fmt::format("#{}", rank.place.node.value)
                                           : node->facts.name);
    }
    if (job.has_live_attempt() && !job.attempt->running_at) {
      view.pending_reason = PendingReason{
          PendingCode::starting,
          fmt::format("attempt {} is being launched on {} node{}", job.attempt->number,
                      view.nodes.size(), view.nodes.size() == 1 ? "" : "s")};
    }
  }
  return view;
}

namespace {

// The worst that stands.
std::string health_of(const Node& node) {
  if (node.liveness != Liveness::up) return "unknown";
  std::string health = "ok";
  for (const NodeCheck& check : node.health.checks) {
    if (check.is_settled()) continue;
    if (check.result.verdict == CheckVerdict::fail) return "fail";
    health = "warn";
  }
  return health;
}

std::vector<NodeCheck> all_checks(const Node& node, const SoftFacts& soft) {
  std::vector<NodeCheck> checks = node.health.checks;
  const Session* session = soft.sessions == nullptr ? nullptr : soft.sessions->find(node.id);
  if (session == nullptr) return checks;
  for (const CheckResult& result : session->checks) {
    if (node.health.find(result.name, result.subject) != nullptr) continue;
    checks.push_back({result, result.at, FaultAnswer::none});
  }
  std::ranges::sort(checks, {}, [](const NodeCheck& check) {
    return std::tie(check.result.name, check.result.subject);
  });
  return checks;
}

}  // namespace

namespace {

HostAmounts host_free(const Node& node) {
  return host_amounts(node.facts, positive(host_left(Capacity::slot_of(node))));
}

}  // namespace

NodeView view_node(const Node& node, const SoftFacts& soft) {
  NodeView view{.node = node};
  for (const Occupant& occupant : node.occupants) view.jobs.push_back(occupant.job.value);
  if (node.takes_jobs()) view.gpus_free = node.free_gpus().count();
  view.host_free = host_free(node);
  view.health = health_of(node);
  const LemonScore lemon = lemon_score(node.health, soft.now, soft.lemon_person_max);
  view.lemon_score = lemon.score;
  view.lemon_text = lemon.explanation;
  view.checks = all_checks(node, soft);
  if (soft.sessions != nullptr) {
    if (const Session* session = soft.sessions->find(node.id)) {
      view.gpu_readings = session->gpu_readings;
    }
  }
  return view;
}

ClusterView view_cluster(const ClusterState& state, const std::string& name) {
  ClusterView view{.name = name, .epoch = state.epoch().value};
  for (const auto& [id, node] : state.nodes()) {
    if (node.removed_at) continue;
    int used = node.used_gpus().count();
    int held = without(node.held_gpus(), node.used_gpus()).count();
    const HostAmounts host_used = host_amounts(node.facts, node.used_host());
    const HostAmounts host_unused = host_free(node);
    view.cpus.total += node.facts.cpus;
    view.cpus.used += host_used.cpus;
    view.cpus.free += host_unused.cpus;
    view.memory_bytes.total += node.facts.memory_bytes;
    view.memory_bytes.used += host_used.memory_bytes;
    view.memory_bytes.free += host_unused.memory_bytes;
    view.gpus_total += node.facts.gpus;
    view.gpus_used += used;
    view.gpus_held += held;
    (node.takes_jobs() ? view.gpus_free : view.gpus_unusable) += node.facts.gpus - used - held;
    ++view.nodes_by_liveness[std::string(to_string(node.liveness))];
    ++view.nodes_by_scheduling[std::string(to_string(node.scheduling))];
  }
  // Counted as numbers first: there may be a million.
  std::map<JobState, int64_t> jobs;
  for (const auto& [id, job] : state.jobs()) ++jobs[job.state];
  for (const auto& [word, count] : jobs) view.jobs_by_state[std::string(to_string(word))] = count;
  return view;
}

}  // namespace hai
