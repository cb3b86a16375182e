#include "server/control/decide_tick.h"

#include <fmt/core.h>

#include "server/control/attempt_flow.h"
#include "server/control/decide_report.h"

namespace hai {
namespace {

// Suspect after two missed heartbeats; down when it must have fenced itself: its lease is shorter
// than down_after and counts from a report it sent before our last grant.
void watch_silence(Decision& decision, const Sessions& sessions, MonoTime now) {
  const Knobs& knobs = decision.knobs();
  std::vector<NodeId> ids;
  for (const auto& [id, node] : decision.state().nodes()) {
    if (node.liveness != Liveness::down) ids.push_back(id);
  }
  for (NodeId id : ids) {
    Duration silence = now - sessions.contact(id);
    if (silence > knobs.down_after) {
      decide_node_down(
          decision, id,
          fmt::format("silent for {}",
                      format_duration(std::chrono::duration_cast<std::chrono::seconds>(silence))));
    } else if (silence > 2 * knobs.heartbeat + 1s &&
               decision.state().find(id)->liveness == Liveness::up) {
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

void watch_attempts(Decision& decision) {
  UnixTime now = decision.now();
  std::vector<JobId> live(decision.state().live().begin(), decision.state().live().end());
  for (JobId id : live) {
    const Job& job = *decision.state().find(id);
    if (!job.has_live_attempt() || job.attempt->end) continue;
    const Attempt& attempt = *job.attempt;
    Duration timeout = job.spec->timeout;
    if (attempt.running_at && timeout > 0s && now - *attempt.running_at > timeout) {
      end_attempt(
          decision, id,
          {AttemptState::failed, 124,
           fmt::format("ran longer than its timeout of {}", format_duration(timeout)), false});
    } else if (!attempt.running_at && attempt.state != AttemptState::suspending &&
               now - attempt.placed_at > decision.knobs().launch_timeout) {
      end_attempt(
          decision, id,
          {AttemptState::lost, 0,
           fmt::format("{} did not come up within {}", missing_ranks(decision.state(), attempt),
                       format_duration(decision.knobs().launch_timeout)),
           true});
    }
  }
}

void close_drains(Decision& decision) {
  for (const auto& [id, node] : decision.state().nodes()) {
    if (node.scheduling != Scheduling::draining || !node.occupants.empty()) continue;
    decision.emit(
        NodeSchedulingChanged{id, Scheduling::drained, node.scheduling_reason, node.scheduling_by});
  }
}

}  // namespace

void decide_tick(Decision& decision, const Sessions& sessions, MonoTime now) {
  watch_silence(decision, sessions, now);
  watch_attempts(decision);
  close_drains(decision);
}

}  // namespace hai
