#include "server/model/invariants.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace hai {
namespace {

using Violations = std::vector<std::string>;

void check_nodes(const ClusterState& state, Violations& out) {
  for (const auto& [id, node] : state.nodes()) {
    GpuSet used;
    for (const Occupant& occupant : node.occupants) {
      if (!(used & occupant.gpus).is_empty()) {
        out.push_back(fmt::format("node {}: gpus {} given twice, again to job {}", node.facts.name,
                                  to_string(used & occupant.gpus), occupant.job.value));
      }
      used = used | occupant.gpus;
      const Job* job = state.find(occupant.job);
      if (job == nullptr || !job->has_live_attempt()) {
        out.push_back(fmt::format("node {}: occupant job {} has no live attempt", node.facts.name,
                                  occupant.job.value));
      } else if (!job->attempt->ranks.at(occupant.rank).holds_place()) {
        out.push_back(fmt::format("node {}: occupant job {} has given it back", node.facts.name,
                                  occupant.job.value));
      }
    }
    GpuSet held;
    for (const Held& hold : node.held) {
      if (!(held & hold.gpus).is_empty()) {
        out.push_back(fmt::format("node {}: gpus {} held twice", node.facts.name,
                                  to_string(held & hold.gpus)));
      }
      held = held | hold.gpus;
    }
    if (!without(used | held, node.all_gpus()).is_empty()) {
      out.push_back(fmt::format("node {}: gpus used that it does not have", node.facts.name));
    }
    if (!node.used_host().is_within(host_total(node.facts))) {
      out.push_back(fmt::format("node {}: more CPUs or memory given than it has", node.facts.name));
    }
  }
}

void check_attempt(const ClusterState& state, const Job& job, Violations& out) {
  const Attempt& attempt = *job.attempt;
  if (static_cast<int>(attempt.ranks.size()) != job.spec->node_count) {
    out.push_back(fmt::format("job {}: {} ranks placed, {} asked", job.id.value,
                              attempt.ranks.size(), job.spec->node_count));
  }
  std::map<NodeId, int> nodes;
  for (const Rank& rank : attempt.ranks) {
    if (++nodes[rank.place.node] > 1) {
      out.push_back(
          fmt::format("job {}: two ranks on node {}", job.id.value, rank.place.node.value));
    }
    const Node* node = state.find(rank.place.node);
    if (node == nullptr) {
      out.push_back(fmt::format("job {}: rank on an unknown node", job.id.value));
    }
  }
  for (const Rank& rank : attempt.holding_ranks()) {
    const Node* node = state.find(rank.place.node);
    const auto is_its = [&](const Occupant& occupant) { return occupant.job == job.id; };
    if (node != nullptr && std::ranges::none_of(node->occupants, is_its)) {
      out.push_back(fmt::format("job {}: a rank has no place on its node", job.id.value));
    }
  }
  if ((attempt.state == AttemptState::suspending) != attempt.suspend_deadline.has_value()) {
    out.push_back(fmt::format("job {}: suspend deadline and state disagree", job.id.value));
  }
}

void check_array(const ClusterState& state, const Job& job, Violations& out) {
  const std::vector<JobId> tasks = state.unfinished_tasks(job.id);
  const auto waits = [&](JobId id) { return state.find(id)->is_waiting(); };
  const auto waiting = std::ranges::count_if(tasks, waits);
  const auto held =
      std::ranges::count_if(tasks, [&](JobId id) { return waits(id) && state.find(id)->held; });
  const ArrayCounts& counts = job.array;
  const int sum = counts.unfinished + counts.succeeded + counts.failed + counts.stopped;
  if (counts.unfinished != static_cast<int>(tasks.size()) || counts.made != sum ||
      state.waiting_tasks(job.id).all != waiting || state.waiting_tasks(job.id).held != held) {
    out.push_back(fmt::format("array {}: its counts are wrong", job.id.value));
  }
  const ArrayRange& range = state.unfinished_arrays().at(job.id);
  const auto is_noted = [&](JobId id) {
    return counts.is_made(range, state.find(id)->array_task->index);
  };
  if (!std::ranges::all_of(tasks, is_noted)) {
    out.push_back(fmt::format("array {}: which tasks are made is wrong", job.id.value));
  }
  const int64_t without_success = counts.gaps ? count_of(counts.gaps->without_success) : 0;
  if (without_success != counts.failed + counts.stopped) {
    out.push_back(fmt::format("array {}: which tasks failed is wrong", job.id.value));
  }
  if (job.has_live_attempt() || job.reservation) {
    out.push_back(fmt::format("array {}: runs itself", job.id.value));
  }
}

void check_jobs(const ClusterState& state, Violations& out) {
  std::map<ClusterState::QuotaKey, int64_t> usage;
  for (const auto& [id, job] : state.jobs()) {
    bool waits = state.waiting().contains({-static_cast<int>(job.priority), id});
    if (waits != job.is_waiting())
      out.push_back(fmt::format("job {}: waiting index is wrong", id.value));
    if (state.live().contains(id) != job.has_live_attempt()) {
      out.push_back(fmt::format("job {}: live index is wrong", id.value));
    }
    if (state.reserved().contains(id) != job.reservation.has_value()) {
      out.push_back(fmt::format("job {}: reservation index is wrong", id.value));
    }
    if (job.reservation && !job.is_waiting()) {
      out.push_back(fmt::format("job {}: holds nodes though it does not wait", id.value));
    }
    if (job.state == JobState::running && !job.has_live_attempt()) {
      out.push_back(fmt::format("job {}: running without a live attempt", id.value));
    }
    if (job.is_array() && !job.is_terminal()) check_array(state, job, out);
    if (!job.has_live_attempt()) continue;
    check_attempt(state, job, out);
    if (state.live().contains(id) && state.rank_counts(id) != count_ranks(*job.attempt)) {
      out.push_back(fmt::format("job {}: its ranks are counted wrong", id.value));
    }
    for (const Rank& rank : job.attempt->holding_ranks()) {
      const Node* node = state.find(rank.place.node);
      usage[{job.user, job.spec->group, job.attempt->priority}] +=
          ClusterState::rank_units(*job.attempt, rank, node == nullptr ? 0 : node->facts.gpus);
    }
  }
  for (const auto& [key, units] : usage) {
    const auto& [user, group, priority] = key;
    if (state.used_node_units(user, group, priority) != units) {
      out.push_back(fmt::format("usage of {} in {}: {} counted, {} summed", user, group,
                                state.used_node_units(user, group, priority), units));
    }
  }
}

}  // namespace

std::vector<std::string> violated_invariants(const ClusterState& state) {
  Violations out;
  check_nodes(state, out);
  NodeCensus census;
  for (const auto& [id, node] : state.nodes()) {
    if (!node.removed_at) census.add(node.facts);
  }
  if (census != state.node_census()) out.push_back("the census of nodes is wrong");
  check_jobs(state, out);
  return out;
}

}  // namespace hai
