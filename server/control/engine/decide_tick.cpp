#include "server/control/engine/decide_tick.h"

#include <fmt/core.h>

#include "server/control/attempt/array_flow.h"
#include "server/control/attempt/attempt_flow.h"
#include "server/control/health/decide_bisect.h"
#include "server/control/health/decide_hang.h"
#include "server/control/health/decide_health.h"
#include "server/control/health/decide_launches.h"
#include "server/control/health/decide_repair.h"
#include "server/control/nodes/agent_admission.h"
#include "server/control/nodes/decide_mass_loss.h"
#include "server/control/nodes/decide_peers.h"
#include "server/control/nodes/decide_report.h"
#include "server/control/nodes/fencing.h"
#include "server/plan/carry_out.h"

namespace hai {
namespace {

constexpr std::string_view kMayStillRun =
    "silent, and too few of its peers are in contact to be sure that it has ended its ranks";

std::string silent_for(Duration silence) {
  return fmt::format("silent for {}",
                     format_duration(std::chrono::duration_cast<std::chrono::seconds>(silence)));
}

// Suspect after two missed heartbeats; down when it must have fenced itself. A node without ranks
// has nothing to fence.
void watch_silence(Decision& decision, const Sessions& sessions, MonoTime now, bool may_give_up) {
  const ClusterState& state = decision.state();
  const Knobs& knobs = decision.knobs();
  std::vector<NodeId> ids;
  for (const auto& [id, node] : state.nodes()) {
    if (node.liveness != Liveness::down && now - sessions.contact(id) > silence_limit(knobs)) {
      ids.push_back(id);
    }
  }
  for (NodeId id : ids) {
    const Node& node = *state.find(id);
    const Duration silence = now - sessions.contact(id);
    if (silence > knobs.down_after) {
      const bool is_over =
          node.occupants.empty() || is_surely_fenced(state, sessions, knobs, id, now);
      if (may_give_up && is_over) {
        decide_node_down(decision, id, silent_for(silence));
      } else if (node.liveness_reason != kMayStillRun) {
        decision.emit(NodeLivenessChanged{id, Liveness::suspect, std::string(kMayStillRun)});
      }
    } else if (node.liveness == Liveness::up) {
      decision.emit(NodeLivenessChanged{id, Liveness::suspect, "heartbeats are missing"});
    }
  }
}

// "rank 1 on node-3", and how many more.
std::string missing_ranks(const ClusterState& state, const Attempt& attempt) {
  std::string first;
  int more = -1;
  for (size_t rank = 0; rank < attempt.ranks.size(); ++rank) {
    if (attempt.ranks[rank].state != RankState::pending) continue;
    if (++more > 0) continue;
    const Node& node = *state.find(attempt.ranks[rank].place.node);
    first = fmt::format("rank {} on {}", rank, node.facts.name);
  }
  return more > 0 ? fmt::format("{} and {} more", first, more) : first;
}

// Agents give a registry up that sends nothing, and a copy after an hour (docs/images.md); this is
// for what even they do not end.
Duration launch_timeout(const Knobs& knobs, const JobSpec& spec) {
  return spec.image.empty() ? knobs.launch_timeout
                            : std::max(knobs.launch_timeout, knobs.image_timeout);
}

void watch_attempts(Decision& decision) {
  UnixTime now = decision.now();
  std::vector<JobId> live(decision.state().live().begin(), decision.state().live().end());
  for (JobId id : live) {
    const Job& job = *decision.state().find(id);
    if (!job.has_live_attempt() || job.attempt->end) continue;
    const Attempt& attempt = *job.attempt;
    // Again and again: one that leaves for another job may be told to go on.
    const User* owner = decision.state().find_user(job.user);
    if (owner != nullptr && !owner->active) {
      suspend_attempt(decision, id, {}, fmt::format("user {} is not active any more", job.user));
    }
    const Duration timeout = job.spec->timeout;
    const Duration to_start = launch_timeout(decision.knobs(), *job.spec);
    if (attempt.running_at && timeout > 0s && now - *attempt.running_at > timeout) {
      end_attempt(
          decision, id,
          {AttemptState::failed, 124,
           fmt::format("ran longer than its timeout of {}", format_duration(timeout)), false});
    } else if (!attempt.running_at && attempt.state != AttemptState::suspending &&
               now - std::max(attempt.placed_at, decision.state().epoch_began_at()) > to_start) {
      // Not counted from before this term: what a rank said while nobody led or the store was away
      // is heard of only now.
      end_attempt(decision, id,
                  {AttemptState::lost, 0,
                   fmt::format("{} did not come up within {}",
                               missing_ranks(decision.state(), attempt), format_duration(to_start)),
                   true});
    }
  }
}

// Whose faults nothing was done about yet: they wait for their neighbours.
std::vector<NodeId> nodes_with_faults(const ClusterState& state) {
  std::vector<NodeId> ids;
  for (const auto& [id, node] : state.nodes()) {
    for (const NodeCheck& check : node.health.checks) {
      if (check.result.verdict != CheckVerdict::fail || check.done != FaultAnswer::none) continue;
      ids.push_back(id);
      break;
    }
  }
  return ids;
}

// A node that is to be drained by a deadline is empty before it, or its jobs leave then.
std::optional<Scheduling> next_of_drain(const Node& node, UnixTime now) {
  const bool is_wanted = node.scheduling == Scheduling::draining || node.drain_at.has_value();
  if (is_wanted && node.occupants.empty()) return Scheduling::drained;
  if (node.drain_at && now >= *node.drain_at) return Scheduling::draining;
  return std::nullopt;
}

void advance_drains(Decision& decision) {
  for (const auto& [id, node] : decision.state().nodes()) {
    const std::optional<Scheduling> next = next_of_drain(node, decision.now());
    if (!next) continue;
    decision.emit(NodeSchedulingChanged{id, *next, node.scheduling_reason, node.scheduling_by});
  }
}

}  // namespace

void decide_tick(Decision& decision, Sessions& sessions, MonoTime now, bool knows_history) {
  decide_mass_loss(decision, sessions, now);
  watch_silence(decision, sessions, now, knows_history);
  decide_peers(decision, sessions);
  decide_refused_agents(decision, sessions, now);
  watch_attempts(decision);
  advance_drains(decision);
  decide_hangs(decision, sessions);
  for (NodeId id : nodes_with_faults(decision.state())) decide_faults(decision, id);
  decide_arrays(decision);
  if (!knows_history) return;
  decide_launches(decision);
  decide_bisections(decision, sessions);
  decide_repairs(decision, sessions);
}

}  // namespace hai
