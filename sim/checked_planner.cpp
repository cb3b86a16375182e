#include "sim/checked_planner.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace hai {
namespace {

std::string text_of(const Placement& placement) {
  std::string text;
  for (const RankPlacement& place : placement) {
    text += fmt::format(" {}:{:x}", place.node.value, place.gpus.bits);
  }
  return text;
}

// One line per item.
std::vector<std::string> lines_of(const Plan& plan) {
  std::vector<std::string> lines;
  for (const DropItem& item : plan.drops) {
    lines.push_back(fmt::format("drop {}: {}", item.job.value, item.reason));
  }
  for (const ContinueItem& item : plan.continues) {
    lines.push_back(fmt::format("continue {}", item.job.value));
  }
  for (const SuspendItem& item : plan.suspends) {
    lines.push_back(fmt::format("suspend {}", item.job.value));
  }
  for (const StartItem& item : plan.starts) {
    lines.push_back(fmt::format("start {} at {}{} on{}", item.job.value, to_string(item.priority),
                                item.is_jumper ? " jumping" : "", text_of(item.placement)));
  }
  for (const ReserveItem& item : plan.reserves) {
    std::string victims;
    for (JobId victim : item.victims) victims += fmt::format(" {}", victim.value);
    lines.push_back(fmt::format("reserve {} at {} on{} from{}", item.job.value,
                                to_string(item.priority), text_of(item.placement), victims));
  }
  return lines;
}

}  // namespace

void CheckedPlanner::update(const ClusterState& state, const Changes& changes) {
  planner_.update(state, changes);
}

Plan CheckedPlanner::pass(const ClusterState& state, const Knobs& knobs, UnixTime now) {
  const auto turns_at = planner_.turns_at();
  Plan plan = planner_.pass(state, knobs, now);
  const std::vector<std::string> mine = lines_of(plan);
  if (mine.empty() && ++idle_passes_ % kIdleEvery != 0) return plan;
  if (++due_ % every_ != 0) return plan;
  TimeSharingPlanner newcomer(VictimChoice::least_lost_work);
  newcomer.set_turns_at(turns_at);
  const std::vector<std::string> fresh = lines_of(newcomer.pass(state, knobs, now));
  if (mine != fresh) {
    fail_(fmt::format("increment: the planner that followed says [{}], a new one [{}]",
                      fmt::join(mine, "; "), fmt::join(fresh, "; ")));
  }
  return plan;
}

PendingReason CheckedPlanner::pending_reason(const ClusterState& state, const Job& job) const {
  return planner_.pending_reason(state, job);
}

}  // namespace hai
