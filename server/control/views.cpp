#include "server/control/views.h"

#include <fmt/core.h>

namespace hai {
namespace {

PendingReason pending_reason(const ClusterState& state, const Job& job, const SoftFacts& soft) {
  if (job.held) return {PendingCode::held, job.hold_reason.empty() ? "held" : job.hold_reason};
  if (soft.planner != nullptr) return soft.planner->pending_reason(state, job);
  return {PendingCode::not_considered, "the next planning pass will look at it"};
}

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
  if (job.is_waiting()) view.pending_reason = pending_reason(state, job, soft);
  if (job.is_terminal()) view.exit_code = job.exit_code;
  view.end_reason = job.end_reason;
  view.suspend_count = job.suspend_count;
  view.requeue_count = job.requeue_count;
  view.lost_gpu_seconds = job.lost_gpu_seconds;
  view.checkpoint = job.checkpoint;
  view.whole_life_state = job.whole_life_state;
  view.spec = job.spec;
  if (soft.progress != nullptr) {
    auto it = soft.progress->find(job.id);
    if (it != soft.progress->end()) view.progress_step = it->second;
  }
  if (!job.attempt) return view;
  view.attempt_state = to_string(job.attempt->state);
  view.last_attempt_reason = attempt_note(state, *job.attempt);
  view.suspend_deadline = job.attempt->suspend_deadline;
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

NodeView view_node(const Node& node) {
  NodeView view{.node = node};
  for (const Occupant& occupant : node.occupants) view.jobs.push_back(occupant.job.value);
  if (node.takes_jobs()) view.gpus_free = node.free_gpus().count();
  view.health = node.liveness == Liveness::up ? "ok" : "unknown";
  return view;
}

ClusterView view_cluster(const ClusterState& state, const std::string& name) {
  ClusterView view{.name = name, .epoch = state.epoch().value};
  for (const auto& [id, node] : state.nodes()) {
    int used = node.used_gpus().count();
    int held = without(node.held_gpus(), node.used_gpus()).count();
    view.gpus_total += node.facts.gpus;
    view.gpus_used += used;
    view.gpus_held += held;
    (node.takes_jobs() ? view.gpus_free : view.gpus_unusable) += node.facts.gpus - used - held;
    ++view.nodes_by_liveness[std::string(to_string(node.liveness))];
    ++view.nodes_by_scheduling[std::string(to_string(node.scheduling))];
  }
  for (const auto& [id, job] : state.jobs())
    ++view.jobs_by_state[std::string(to_string(job.state))];
  return view;
}

}  // namespace hai
