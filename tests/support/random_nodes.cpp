// RandomCluster, the part about nodes and their health.

#include "tests/support/random_cluster.h"

namespace hai::test {

void RandomCluster::change_health(NodeId node) {
  const NodeHealth& health = state_.find(node)->health;
  switch (rng_.below(6)) {
    case 4:
      for (const auto& [ended_at, id] : state_.finished()) {
        // A failure is reopened within an hour (attribution_after), and archives take none that is
        // younger; these clusters live for minutes.
        if (time() - ended_at > 2min) continue;
        const Job& job = *state_.find(id);
        if (job.state != JobState::failed || job.is_array()) continue;
        const Job* array = job.array_task ? state_.find(job.array_task->array) : nullptr;
        if (job.array_task && (array == nullptr || array->is_terminal())) continue;
        if (state_.find_unfinished(job.user, job.spec->name) != nullptr) continue;
        if (state_.find_user(job.user) == nullptr) emit(UserSet{{.name = job.user}});
        return emit(JobReopened{id, some_nodes(), text()});
      }
      break;
    case 0:
      return emit(NodeMarked{node,
                             one_of({MarkKind::evict, MarkKind::flash_cut, MarkKind::gang_failed}),
                             name("about", 3), JobId{rng_.between(0, 5)}});
    case 1: {
      const RepairStep step =
          one_of({RepairStep::none, RepairStep::emptying, RepairStep::validating,
                  RepairStep::repairing, RepairStep::bisecting, RepairStep::service});
      if (!may_follow(health.repair.step, step)) break;
      return emit(NodeRepairChanged{node,
                                    {.step = step,
                                     .round = static_cast<int>(rng_.below(3)),
                                     .job = JobId{rng_.between(0, 5)},
                                     .hook = rng_.between(0, 9),
                                     .action = one_of({RepairAction::none, RepairAction::reboot}),
                                     .reason = text(),
                                     .incident = state_.last_incident()}});
    }
    case 2:
      return emit(NodeValidated{
          node, rng_.chance(0.5), text(), {{name("test", 3), "GB/s", 1.5, rng_.chance(0.5)}}});
    case 3:
      if (health.checks.empty()) break;
      return emit(NodeCheckHandled{node, health.checks[0].result.name,
                                   health.checks[0].result.subject,
                                   one_of({FaultAnswer::none, FaultAnswer::validate,
                                           FaultAnswer::mended, FaultAnswer::accepted})});
    default:
      break;
  }
  emit(NodeCheckChanged{
      node,
      {.name = name("check", 3),
       .subject = name("gpu ", 3),
       .verdict = one_of(
           {CheckVerdict::ok, CheckVerdict::warn, CheckVerdict::fail, CheckVerdict::unknown}),
       .tier = one_of({HealthTier::log, HealthTier::validate, HealthTier::evict}),
       .summary = text(),
       .evidence = text(),
       .gpus = GpuSet::first(static_cast<int>(rng_.below(4))),
       .at = time(),
       .said_kind = rng_.chance(0.5) ? std::optional(CheckKind{.is_latched = rng_.chance(0.5)})
                                     : std::nullopt}});
}

void RandomCluster::change_nodes() {
  const auto count = static_cast<int64_t>(state_.nodes().size());
  const bool fresh = count < options_.nodes;
  const NodeId node{fresh ? count + 1 : rng_.between(1, count)};
  if (!fresh && state_.find(node)->removed_at) return;
  const bool is_in_use =
      !fresh && (!state_.find(node)->occupants.empty() || !state_.find(node)->held.empty());
  if (!fresh && !is_in_use && state_.present_nodes() > 2 && rng_.chance(0.1)) {
    return emit(NodeRemoved{node, text()});
  }
  if (fresh || rng_.chance(0.2)) {
    NodeRegistered registered{node,
                              {.name = "node-" + std::to_string(node.value),
                               .group = "training",
                               .zone = name("zone", 2),
                               .leaf = name("leaf", 4),
                               .address = "10.0.0.1",
                               .gpus = options_.gpus,
                               .cpus = 64,
                               .memory_bytes = int64_t{1} << 40,
                               .numa_nodes = 2,
                               .gpu_model = text(),
                               .agent_version = "0.1.0",
                               .boot_id = text(),
                               .instance = text(),
                               .machine = text()}};
    if (fresh || registered.facts.gpu_model.size() % 2 == 0) return emit(std::move(registered));
    // No draw of its own: old seeds keep their worlds.
    return emit(
        NodeSet{node,
                {.leaf = registered.facts.leaf, .labels = std::vector{registered.facts.gpu_model}},
                registered.facts.boot_id});
  }
  if (rng_.chance(0.2)) {
    const NodePeers& peers = state_.find(node)->peers;
    if (peers.named) return emit(NodePeersConfirmed{node});
    return emit(NodePeersNamed{node, peers.version + rng_.between(1, 2), some_nodes()});
  }
  if (rng_.chance(0.3)) return change_health(node);
  if (rng_.chance(0.5)) {
    return emit(NodeLivenessChanged{node, one_of({Liveness::up, Liveness::suspect, Liveness::down}),
                                    text()});
  }
  NodeSchedulingChanged change{
      node,
      one_of({Scheduling::open, Scheduling::cordoned, Scheduling::draining, Scheduling::drained}),
      text(), name("user", 5)};
  if (change.scheduling == Scheduling::cordoned && rng_.chance(0.5)) {
    change.drain_at = time() + std::chrono::hours(1);
  }
  emit(change);
}

}  // namespace hai::test
