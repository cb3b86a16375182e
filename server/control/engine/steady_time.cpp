#include "server/control/engine/steady_time.h"

#include <algorithm>

namespace hai {

void SteadyTime::start(UnixTime wall, UnixTime newest, MonoTime now) {
  time_ = std::max(wall, newest);
  last_ = now;
}

UnixTime SteadyTime::at(UnixTime wall, MonoTime now) {
  constexpr int kSlewShare = 20;
  const Duration passed = now - last_;
  last_ = now;
  time_ += passed;
  time_ += std::clamp(wall - time_, -passed / kSlewShare, passed / kSlewShare);
  return time_;
}

UnixTime newest_time(const ClusterState& state) {
  UnixTime newest{};
  const auto see = [&](std::optional<UnixTime> time) {
    if (time) newest = std::max(newest, *time);
  };
  for (const auto& [id, job] : state.jobs()) {
    for (const auto& time : {std::optional(job.submitted_at), std::optional(job.waiting_since),
                             job.started_at, job.ended_at}) {
      see(time);
    }
    if (job.reservation) see(job.reservation->since);
    if (!job.attempt) continue;
    for (const auto& time :
         {std::optional(job.attempt->placed_at), job.attempt->running_at, job.attempt->ended_at}) {
      see(time);
    }
  }
  for (const auto& [name, user] : state.users()) see(user.usage.at);
  for (const auto& [id, node] : state.nodes()) {
    const NodeHealth& health = node.health;
    for (const NodeCheck& check : health.checks) see(check.since);
    for (const NodeMark& mark : health.marks) see(mark.at);
    for (const UnixTime time : {health.repair.since, health.validated_at, health.judged_at}) {
      see(time);
    }
  }
  for (const auto& [id, incident] : state.incidents()) {
    see(incident.opened_at);
    for (const IncidentNote& note : incident.notes) see(note.at);
  }
  return newest;
}

}  // namespace hai
